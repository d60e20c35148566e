package memory

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/reshelve/reshelve/internal/coord"
)

// Remembered is how many changes watches may lag behind.
const Remembered = 1 << 14

// Store is a coord.Store. Make it with New.
type Store struct {
	clock   coord.Clock
	history *coord.History

	mu       sync.RWMutex
	closed   bool
	revision int64
	records  map[string]coord.Record
}

// New is an empty store.
func New() *Store {
	return &Store{history: coord.NewHistory(0, Remembered), records: map[string]coord.Record{}}
}

// Get is coord.Store's.
func (s *Store) Get(ctx context.Context, key string) (coord.Record, error) {
	if err := coord.CheckKey(key); err != nil {
		return coord.Record{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return coord.Record{}, err
	}
	record, ok := s.records[key]
	if !ok {
		return coord.Record{}, coord.Missing(key)
	}
	return copied(record), nil
}

// List is coord.Store's; it looks at every record.
func (s *Store) List(ctx context.Context, prefix string) ([]coord.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var found []coord.Record
	for key, record := range s.records {
		if strings.HasPrefix(key, prefix) {
			found = append(found, copied(record))
		}
	}
	slices.SortFunc(found, func(a, b coord.Record) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

// Revision is coord.Store's.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	return s.revision, nil
}

// Create is coord.Store's.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	return s.write(ctx, coord.Write{Op: coord.OpCreate, Key: key, Value: value})
}

// Swap is coord.Store's.
func (s *Store) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return s.write(ctx, coord.Write{Op: coord.OpSwap, Key: key, Revision: revision, Value: value})
}

// Delete is coord.Store's.
func (s *Store) Delete(ctx context.Context, key string, revision int64) error {
	_, err := s.write(ctx, coord.Write{Op: coord.OpDelete, Key: key, Revision: revision})
	return err
}

// Watch is coord.Store's.
func (s *Store) Watch(ctx context.Context, prefix string, after int64) iter.Seq2[coord.Event, error] {
	return s.history.Watch(ctx, after, func(after int64) ([]coord.Event, int64, error) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		if err := s.usable(ctx); err != nil {
			return nil, 0, err
		}
		return s.history.Step(prefix, after, s.revision, func(key string) (coord.Record, error) {
			return copied(s.records[key]), nil
		})
	})
}

// Now is coord.Store's.
func (s *Store) Now(ctx context.Context) (coord.Time, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return coord.Time{}, err
	}
	return s.clock.Now(), nil
}

// Close ends the watches and forgets nothing: there is no more way to ask.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.history.End(coord.Closed())
	return nil
}

// usable tells whether a call may go on. The caller holds the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return coord.Closed()
	}
	return ctx.Err()
}

func (s *Store) write(ctx context.Context, w coord.Write) (int64, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	if err := w.Admit(s.records[w.Key].Revision); err != nil {
		return 0, err
	}
	s.revision++
	if w.Op == coord.OpDelete {
		delete(s.records, w.Key)
	} else {
		s.records[w.Key] = copied(coord.Record{Key: w.Key, Value: w.Value, Revision: s.revision})
	}
	s.history.Append(coord.Change{Key: w.Key, Revision: s.revision, Deleted: w.Op == coord.OpDelete})
	return s.revision, nil
}

// copied is the record with a value of its own, which is not nil.
func copied(r coord.Record) coord.Record {
	r.Value = append([]byte{}, r.Value...)
	return r
}
