package local

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
)

// A transaction takes the requests that wait, up to so many or so many bytes; more
// would make the first wait long.
const (
	batchRequests = 256
	batchBytes    = 8 << 20
)

// request is one change on its way through the writer. Its caller may have gone when
// it is done, so it holds nothing of the caller's.
type request struct {
	coord.Write
	ctx      context.Context
	packed   []byte // the record to be, unless it is a deletion
	revision int64  // given by the writer
	err      error
	done     chan struct{}
}

// write hands a change to the writer and waits until it is synced.
func (s *Store) write(ctx context.Context, w coord.Write) (int64, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	r := &request{Write: w, ctx: ctx, done: make(chan struct{})}
	if w.Op != coord.OpDelete {
		r.packed = pack(w.Value)
	}
	r.Value = nil
	select {
	case s.requests <- r:
	case <-s.stop:
		return 0, coord.Closed()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case <-r.done:
		return r.revision, r.err
	case <-ctx.Done():
		return 0, ctx.Err() // nobody knows; the contract says so
	}
}

// writeAll is the writer: it ends when Close is called.
func (s *Store) writeAll() {
	defer close(s.stopped)
	for {
		select {
		case <-s.stop:
			return
		case first := <-s.requests:
			batch := s.gather(first)
			s.commit(batch)
			for _, r := range batch {
				close(r.done)
			}
		}
	}
}

// gather adds the requests that wait.
func (s *Store) gather(first *request) []*request {
	batch, size := []*request{first}, len(first.packed)
	for len(batch) < batchRequests && size < batchBytes {
		select {
		case r := <-s.requests:
			batch = append(batch, r)
			size += len(r.packed)
		default:
			return batch
		}
	}
	return batch
}

// commit decides on the requests and makes those durable that are admitted. When
// that fails, each is tried alone: the others are not to suffer for one that is too
// large for the disk.
func (s *Store) commit(batch []*request) {
	changes, err := s.transact(batch)
	if err == nil {
		s.history.Append(changes...)
		return
	}
	if len(batch) > 1 && s.whyBroken() == nil {
		for i := range batch {
			s.commit(batch[i : i+1])
		}
		return
	}
	for _, r := range batch {
		r.revision, r.err = 0, err
	}
}

// errNothing rolls a transaction back that would change nothing.
var errNothing = errors.New("nothing to write")

// transact is one synced transaction. Its error is about the file, not a request.
func (s *Store) transact(batch []*request) (changes []coord.Change, err error) {
	if err := s.whyBroken(); err != nil {
		return nil, err
	}
	finished := false
	err = guard(func() error {
		err := s.db.Update(func(tx *bolt.Tx) error {
			h, err := readHead(tx)
			if err != nil {
				return err
			}
			changes = nil
			for _, r := range batch {
				if err := r.apply(tx.Bucket(recordsBucket), &h); err != nil {
					return err
				}
				if r.err == nil {
					changes = append(changes, coord.Change{Key: r.Key, Revision: r.revision, Deleted: r.Op == coord.OpDelete})
				}
			}
			if len(changes) == 0 {
				return errNothing
			}
			h.time = s.clock.Now().At
			return tx.Bucket(ownBucket).Put(headKey, h.encode())
		})
		finished = true
		return err
	})
	if err == nil || errors.Is(err, errNothing) {
		return changes, nil
	}
	if err = s.explain(err); !finished {
		s.breakDown(err, true)
	} else if s.shows() {
		s.breakDown(err, false)
	}
	return nil, err
}

// apply makes the change in the transaction, or sets r.err. It returns an error
// when the file fails.
func (r *request) apply(records *bolt.Bucket, h *head) error {
	if r.err = r.ctx.Err(); r.err != nil {
		return nil // gone before its turn
	}
	key := []byte(r.Key)
	old, have, err := label(r.Key, records.Get(key))
	if err != nil {
		return err
	}
	if r.err = r.Admit(have); r.err != nil {
		return nil
	}
	h.revision++
	r.revision = h.revision
	h.sum ^= old
	if r.Op == coord.OpCreate {
		h.records++
	}
	if r.Op == coord.OpDelete {
		h.records--
		return records.Delete(key)
	}
	h.sum ^= stamp(r.packed, r.Key, r.revision)
	return records.Put(key, r.packed)
}

// shows tells whether readers see a transaction that was not synced: its meta page
// was written, and then its sync failed.
func (s *Store) shows() bool {
	seen := s.history.Last()
	err := guard(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			h, err := readHead(tx)
			seen = h.revision
			return err
		})
	})
	return err != nil || seen > s.history.Last()
}

func (s *Store) whyBroken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// breakDown ends the writes: after a failed sync nobody knows what the disk has, and
// a second sync that succeeds would not tell.
func (s *Store) breakDown(err error, leak bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.leak = fault.WithNext(err, "look after the disk, then start again"), leak
	if !leak {
		s.history.End(s.broken)
	}
}
