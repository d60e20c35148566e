package coord

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Scope is the part of a store whose keys begin with one of the prefixes. Other keys, and
// lists and watches that would meet them, are fault.Refused: who is offered a scope cannot
// touch what lies beside it. Close leaves the store open.
func Scope(s Store, prefixes ...string) Store { return &scope{s, prefixes} }

type scope struct {
	Store
	prefixes []string
}

func (s *scope) check(key string) error {
	if slices.ContainsFunc(s.prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
		return nil
	}
	err := fault.New(fault.Refused, "the key %q is not offered", key)
	return fault.WithNext(err, "ask for keys that begin with %s", strings.Join(s.prefixes, " or "))
}

func (s *scope) Get(ctx context.Context, key string) (Record, error) {
	if err := s.check(key); err != nil {
		return Record{}, err
	}
	return s.Store.Get(ctx, key)
}

func (s *scope) List(ctx context.Context, prefix string) ([]Record, error) {
	if err := s.check(prefix); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix)
}

func (s *scope) Create(ctx context.Context, key string, value []byte) (int64, error) {
	if err := s.check(key); err != nil {
		return 0, err
	}
	return s.Store.Create(ctx, key, value)
}

func (s *scope) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	if err := s.check(key); err != nil {
		return 0, err
	}
	return s.Store.Swap(ctx, key, revision, value)
}

func (s *scope) Delete(ctx context.Context, key string, revision int64) error {
	if err := s.check(key); err != nil {
		return err
	}
	return s.Store.Delete(ctx, key, revision)
}

func (s *scope) Watch(ctx context.Context, prefix string, after int64) iter.Seq2[Event, error] {
	if err := s.check(prefix); err != nil {
		return func(yield func(Event, error) bool) { yield(Event{}, err) }
	}
	return s.Store.Watch(ctx, prefix, after)
}

func (s *scope) Close() error { return nil }
