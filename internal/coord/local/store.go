package local

import (
	"bytes"
	"context"
	"iter"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// Remembered is how many changes watches may lag behind.
const Remembered = 1 << 14

// Store is a coord.Store. Make it with Open.
type Store struct {
	path    string
	db      *bolt.DB
	clock   coord.Clock
	history *coord.History // its last revision is synced, and so may be shown

	requests chan *request
	stop     chan struct{} // closed by Close: no more requests
	stopped  chan struct{} // closed by the writer's end
	closing  sync.Once
	closed   error // of Close, after stopped

	leak bool // of the writer: bbolt lost its lock in a panic, and closing would wait forever

	mu     sync.Mutex
	broken error // why there are no more writes; nil while there are
}

// start serves what db holds, of which head is known to be right.
func start(path string, db *bolt.DB, h head, remembered int) *Store {
	s := &Store{
		path: path, db: db, history: coord.NewHistory(h.revision, remembered),
		requests: make(chan *request), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.clock.Raise(h.time)
	go s.writeAll()
	return s
}

// Get is coord.Store's.
func (s *Store) Get(ctx context.Context, key string) (coord.Record, error) {
	if err := coord.CheckKey(key); err != nil {
		return coord.Record{}, err
	}
	record := coord.Record{Key: key}
	err := s.view(ctx, func(records *bolt.Bucket, _ head) (err error) {
		packed := records.Get([]byte(key))
		if packed == nil {
			return coord.Missing(key)
		}
		record.Value, record.Revision, err = unpack(key, packed)
		return err
	})
	if err != nil {
		return coord.Record{}, err
	}
	return record, nil
}

// List is coord.Store's.
func (s *Store) List(ctx context.Context, prefix string) ([]coord.Record, error) {
	var found []coord.Record
	err := s.view(ctx, func(records *bolt.Bucket, _ head) error {
		cursor, from := records.Cursor(), []byte(prefix)
		for key, packed := cursor.Seek(from); key != nil && bytes.HasPrefix(key, from); key, packed = cursor.Next() {
			record := coord.Record{Key: string(key)}
			var err error
			if record.Value, record.Revision, err = unpack(record.Key, packed); err != nil {
				return err
			}
			found = append(found, record)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Revision is coord.Store's.
func (s *Store) Revision(ctx context.Context) (revision int64, err error) {
	err = s.view(ctx, func(_ *bolt.Bucket, h head) error {
		revision = h.revision
		return nil
	})
	return revision, err
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
	return s.history.Watch(ctx, after, func(after int64) (events []coord.Event, upTo int64, err error) {
		err = s.view(ctx, func(records *bolt.Bucket, h head) (err error) {
			events, upTo, err = s.history.Step(prefix, after, h.revision, func(key string) (coord.Record, error) {
				value, revision, err := unpack(key, records.Get([]byte(key)))
				return coord.Record{Key: key, Value: value, Revision: revision}, err
			})
			return err
		})
		return events, upTo, err
	})
}

// Now is coord.Store's.
func (s *Store) Now(ctx context.Context) (coord.Time, error) {
	if err := s.usable(ctx); err != nil {
		return coord.Time{}, err
	}
	return s.clock.Now(), nil
}

// Close waits for what was accepted, ends the watches and gives the file free.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.stop)
		<-s.stopped
		s.history.End(coord.Closed())
		if s.leak {
			return // the lock on the file ends with the process
		}
		if err := s.db.Close(); err != nil {
			s.closed = fault.At(fault.Wrap(fault.Unavailable, err), s.path)
		}
	})
	return s.closed
}

func (s *Store) usable(ctx context.Context) error {
	select {
	case <-s.stop:
		return coord.Closed()
	default:
		return ctx.Err()
	}
}

// view runs read on a snapshot that is synced.
func (s *Store) view(ctx context.Context, read func(records *bolt.Bucket, h head) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	err := guard(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			h, err := readHead(tx)
			if err != nil {
				return err
			}
			// A transaction is seen from its meta page on, which is written before
			// it is synced. The writer finishes that without needing what this
			// snapshot holds back, so that waiting inside it blocks nobody.
			if err := s.history.Wait(ctx, h.revision-1); err != nil {
				return err
			}
			return read(tx.Bucket(recordsBucket), h)
		})
	})
	return s.explain(err)
}
