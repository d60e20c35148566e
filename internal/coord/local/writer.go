package local

import (
	"context"
	"runtime"

	bolt "go.etcd.io/bbolt"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
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

// gather adds the requests that wait. It lets the callers run first that were just
// answered: they come back with their next, and would each wait for a sync more.
func (s *Store) gather(first *request) []*request {
	runtime.Gosched()
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

// transact is one synced transaction. Its error is about the file, not a request.
func (s *Store) transact(batch []*request) (changes []coord.Change, err error) {
	if err := s.whyBroken(); err != nil {
		return nil, err
	}
	var tx *bolt.Tx
	err = guard(func() (err error) {
		if tx, err = s.db.Begin(true); err != nil {
			return err
		}
		if changes, err = s.fill(tx, batch); err != nil || len(changes) == 0 {
			return err
		}
		return tx.Commit()
	})
	// Not db.Update: after a panic that would look at all pages in a goroutine of its
	// own, where a second one ends the process.
	if tx != nil && guard(func() error { _ = tx.Rollback(); return nil }) != nil {
		s.leak = true
	}
	if err == nil {
		return changes, nil
	}
	return nil, s.judge(s.explain(err))
}

// judge decides whether there may be writes after one that failed. There may not be
// when the file is damaged, or when nobody knows what the disk has; a second sync
// that succeeds would not tell. Then neither are there reads.
func (s *Store) judge(err error) error {
	shown := s.shows()
	if !shown && !fault.Is(err, fault.Corrupt) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = fault.WithNext(err, "look after the disk, then start again")
	if shown {
		s.history.End(s.broken)
	}
	return s.broken
}

// fill makes the admitted changes in the transaction, and the head that goes with
// them.
func (s *Store) fill(tx *bolt.Tx, batch []*request) (changes []coord.Change, err error) {
	h, err := readHead(tx)
	if err != nil {
		return nil, err
	}
	for _, r := range batch {
		if err := r.apply(tx.Bucket(recordsBucket), &h); err != nil {
			return nil, err
		}
		if r.err == nil {
			changes = append(changes, coord.Change{Key: r.Key, Revision: r.revision, Deleted: r.Op == coord.OpDelete})
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	h.time = s.clock.Now().At
	return changes, tx.Bucket(ownBucket).Put(headKey, h.encode())
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
// was written, and then its sync failed. What cannot be read shows nothing.
func (s *Store) shows() bool {
	seen := int64(0)
	_ = guard(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			h, err := readHead(tx)
			seen = h.revision
			return err
		})
	})
	return seen > s.history.Last()
}

func (s *Store) whyBroken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}
