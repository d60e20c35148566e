package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// turn is a lock for which one waits no longer than a context.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) leave() { <-t }

// lock takes s.admin. When it is not known how the last change ended, it reads the truth
// first.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := s.admin.take(ctx); err != nil {
		return nil, err
	}
	if s.doubt {
		if err := s.settle(ctx); err != nil {
			s.admin.leave()
			return nil, fault.At(err, "reading how the last change ended")
		}
		s.doubt = false
	}
	return s.admin.leave, nil
}

// settle makes the view what the coordination store says.
func (s *Store) settle(ctx context.Context) error {
	for name, idx := range s.view.Load().indices {
		record, err := s.coord.Get(ctx, indexKey(idx.entry.Number))
		if fault.Is(err, fault.NotFound) {
			continue // the catalog tells
		}
		if err != nil {
			return err
		}
		if record.Revision == idx.revision {
			continue
		}
		read, err := decodeIndex(name, idx.entry, record, idx.placement)
		if err != nil {
			return err
		}
		s.replace(name, idx, read)
	}
	record, err := s.coord.Get(ctx, catalogKey)
	if err != nil {
		return err
	}
	names, err := catalog.Decode(record.Value)
	if err != nil {
		return err
	}
	s.follow(context.WithoutCancel(ctx), names, record.Revision, nil)
	return s.agreeOnHidden(ctx)
}

// changeIndex changes the record of one index by compare-and-set and publishes the index; edit gets it as it is and
// returns it as reading its record shall give it, or nil where nothing changes. The shards go on
// unharmed. The caller holds s.admin. Like change, it does not end with ctx once begun.
func (s *Store) changeIndex(ctx context.Context, name string, edit func(idx *index) (*index, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	old := s.view.Load().indices[name]
	if old == nil {
		return exception.NoSuchIndex(name)
	}
	changed, err := edit(old)
	if err != nil || changed == nil {
		return err
	}
	value, err := changed.record.Encode()
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	key := indexKey(old.entry.Number)
	record, err := coord.Update(ctx, s.coord, key, func([]byte) ([]byte, error) { return value, nil })
	if err != nil {
		found, reading := s.coord.Get(ctx, key)
		if reading != nil || string(found.Value) != string(value) {
			s.doubt = true
			return err
		}
		record = found
	}
	changed.revision = record.Revision
	s.replace(name, old, changed)
	return nil
}

// replace publishes an index as its record says; its shards stay.
func (s *Store) replace(name string, old, idx *index) {
	idx.shards, idx.indexer, idx.tallies, idx.past = old.shards, old.indexer, old.tallies, old.past
	if idx.indexer != nil {
		idx.indexer.schema.Store(idx.schema) // before anything is written that needs it
	}
	s.publish(func(v *view) { v.indices[name] = idx })
}
