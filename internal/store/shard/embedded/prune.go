package embedded

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// needs are the sequence numbers of those who may need changes and tombstones
// behind them.
type needs struct {
	synced  int64
	readers []int64 // of the open ones, of the last refresh, and of the manifest of the segments
	holds   map[string]shard.Position
}

// bound is the last sequence number that nobody can need.
func (n needs) bound() int64 {
	bound := n.synced
	for _, seqNo := range n.readers {
		bound = min(bound, seqNo)
	}
	for _, p := range n.holds {
		bound = min(bound, p.SeqNo)
	}
	return bound
}

// needs are those of now. The mutex is held.
func (s *local) needs() needs {
	n := needs{synced: s.mark.seqNo.Load(), holds: s.holds}
	if s.segments != nil { // what is not in the manifest is made from the changes after a crash
		n.readers = append(n.readers, s.segments.committed.Load())
	}
	for v := range s.views {
		n.readers = append(n.readers, v.seqNo)
	}
	return n
}

// Prune removes whole runs: the changes of a group go together. It takes the mutex
// for some runs at a time, so writes go on between.
func (s *local) Prune(ctx context.Context, now time.Time) error {
	done, err := s.begin(0)
	if err != nil {
		return err
	}
	defer done()
	if err := s.renew(); err != nil {
		return s.failure(err)
	}
	for more := true; more; {
		if ctx.Err() != nil {
			return fault.At(fault.Wrap(fault.Unavailable, context.Cause(ctx)), place(s.id))
		}
		if err := s.engine.writable(ctx, 0); err != nil {
			return err
		}
		if more, err = s.pruneSome(now.Add(-s.age)); err != nil {
			return s.failure(err)
		}
	}
	return s.failure(s.buryInherited(ctx, now.Add(-s.age)))
}

// buryInherited removes the tombstones of deletes that stand in nobody's changes: of shards
// that this one came from. It looks at some rows at a time, so writes go on between. One that is
// closed before that looks again when it is opened.
func (s *local) buryInherited(ctx context.Context, cutoff time.Time) error {
	s.mu.Lock()
	since, within := s.inherits, s.state.within
	s.mu.Unlock()
	if since.IsZero() || since.After(cutoff) {
		return nil
	}
	lower, upper := rowBounds(s.id.Index, within)
	for lower != nil {
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, context.Cause(ctx))
		}
		var err error
		if lower, err = s.burySome(lower, upper, within); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inherits.Equal(since) {
		s.inherits = time.Time{}
	}
	return nil
}

// buryAtOnce is how many rows are looked at with the mutex held.
const buryAtOnce = 512

// burySome removes such tombstones from lower on; next is where the others begin, nil: there
// are none, or the shard owns another range now.
func (s *local) burySome(lower, upper []byte, within routing.Range) (next []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.state.within != within {
		return nil, nil
	}
	db, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	batch, after, n := db.NewBatch(), s.state, 0
	defer batch.Close()
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if n++; n > buryAtOnce {
			next = bytes.Clone(it.Key())
			break
		}
		var h head
		if _, _, h, err = splitRow(it.Key()); err == nil && h.deleted && h.SeqNo <= s.state.pruned {
			err = batch.Delete(it.Key(), nil)
			after.tombstones--
		}
	}
	err = errors.Join(err, it.Error(), it.Close())
	if err != nil || batch.Empty() {
		return next, err
	}
	err = errors.Join(batch.Set(stateKey(s.id), encodeState(&after), nil), db.Apply(batch, pebble.NoSync))
	if err == nil {
		s.state = after
	}
	return next, err
}

// pruneSome removes the oldest runs, about maxChunk bytes of them, and the
// tombstones that they left, in one batch; false when there is nothing to remove.
// It is not synced: a crash that takes it back brings back nothing but changes and
// tombstones.
func (s *local) pruneSome(cutoff time.Time) (more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bound := s.needs().bound()
	if bound <= s.state.pruned {
		return false, nil
	}
	runs, err := s.runs(s.state.pruned+1, bound)
	if err != nil {
		return false, err
	}
	db, done, err := s.use()
	if err != nil {
		return false, err
	}
	defer done()
	rows, err := s.rows(db, true)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	batch := db.NewBatch()
	defer batch.Close()
	after := s.state
	for i := range runs {
		if runs[i].last() > bound || runs[i].at.After(cutoff) {
			break
		}
		if err := s.bury(rows, batch, &runs[i], &after); err != nil {
			return false, err
		}
		after.pruned = runs[i].last()
	}
	if after.pruned == s.state.pruned {
		return false, nil
	}
	err = errors.Join(
		batch.DeleteRange(appendRunKey(nil, s.id, s.state.pruned+1), appendRunKey(nil, s.id, after.pruned+1), nil),
		batch.Set(stateKey(s.id), encodeState(&after), nil))
	if err != nil {
		return false, err
	}
	if err := db.Apply(batch, pebble.NoSync); err != nil {
		return false, err
	}
	s.state = after
	return true, nil
}

// bury removes the tombstones that the deletes of a run left, where they are still
// there, and the shard's own: the row of a document that was made again is another.
func (s *local) bury(rows *pebble.Iterator, batch *pebble.Batch, r *run, after *state) error {
	for seqNo := r.first; seqNo <= r.last(); seqNo++ {
		c, err := r.next(seqNo)
		if err != nil {
			return err
		}
		if c.Op != shard.Delete || !s.state.within.Contains(c.Key) {
			continue
		}
		row, found, err := s.find(rows, c.Ref, true, nil)
		if err != nil {
			return err
		}
		if !found || row.SeqNo != seqNo {
			continue
		}
		if err := batch.Delete(rows.Key(), nil); err != nil {
			return err
		}
		after.tombstones--
	}
	return nil
}
