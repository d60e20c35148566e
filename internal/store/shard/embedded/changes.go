package embedded

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// maxChunk is how many bytes of runs are read at once: a slow consumer keeps no
// iterator open meanwhile.
const maxChunk = 256 << 10

// Changes yields what was synced when the iteration began.
func (s *local) Changes(ctx context.Context, after shard.Position, limit int) iter.Seq2[shard.Change, error] {
	return func(yield func(shard.Change, error) bool) {
		done, err := s.begin(after.Incarnation)
		if err == nil {
			defer done()
			err = s.changes(ctx, after, int64(max(limit, 0)), func(c shard.Change) bool { return yield(c, nil) })
		}
		if err != nil {
			yield(shard.Change{}, s.failure(err))
		}
	}
}

func (s *local) changes(ctx context.Context, after shard.Position, limit int64, yield func(shard.Change) bool) error {
	last := s.mark.seqNo.Load()
	if last-after.SeqNo > limit {
		last = after.SeqNo + limit
	}
	next := after.SeqNo + 1
	for {
		if err := s.continues(after, next-1); err != nil || next > last {
			return err
		}
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, context.Cause(ctx))
		}
		runs, err := s.runs(next, last)
		if err != nil {
			return err
		}
		for i := range runs {
			more, err := runs[i].yield(&next, last, yield)
			if err != nil || !more {
				return err
			}
		}
	}
}

// yield gives the changes of a run from next to last, and moves next behind them.
func (r *run) yield(next *int64, last int64, yield func(shard.Change) bool) (more bool, err error) {
	for seqNo := r.first; seqNo <= min(r.last(), last); seqNo++ {
		c, err := r.next(seqNo)
		if err != nil {
			return false, err
		}
		if seqNo < *next {
			continue
		}
		*next = seqNo + 1
		if !yield(c) {
			return false, nil
		}
	}
	return true, nil
}

// continues checks that the changes after a number are there, for a follower that
// began at a position of this incarnation.
func (s *local) continues(began shard.Position, after int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if placed := s.gate.now(); placed.Term != began.Incarnation {
		return &shard.Stale{ID: s.id, Asked: began.Incarnation, Epoch: placed.Epoch}
	}
	if after < s.state.pruned {
		return s.expired(shard.Position{Incarnation: began.Incarnation, SeqNo: after})
	}
	return nil
}

// expired is the refusal of a position. The mutex is held.
func (s *local) expired(p shard.Position) error {
	return &shard.Expired{ID: s.id, After: p, Oldest: s.state.pruned + 1}
}

// runs reads about maxChunk bytes of runs that hold the changes from first to last,
// and checks that none is missing between them. The runs belong to the caller.
func (s *local) runs(first, last int64) (found []run, err error) {
	db, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return s.runsIn(db, first, last)
}

// runsIn is runs of a state of Pebble.
func (s *local) runsIn(from pebble.Reader, first, last int64) (found []run, err error) {
	it, err := from.NewIter(&pebble.IterOptions{
		LowerBound: appendRunKey(nil, s.id, 0), UpperBound: appendRunKey(nil, s.id, last+1)})
	if err != nil {
		return nil, err
	}
	size := 0
	for ok := it.SeekLT(appendRunKey(nil, s.id, first+1)); ok && size < maxChunk; ok = it.Next() {
		r, err := runAt(it)
		if err == nil && (r.first > first || r.last() < first) {
			err = fault.New(fault.Corrupt, "the changes from %d are missing, found are %d to %d", first, r.first, r.last())
		}
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		first = r.last() + 1
		size += len(r.rest.rest)
		found = append(found, r)
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fault.New(fault.Corrupt, "the changes from %d are missing", first)
	}
	return found, nil
}

// runAt is the run under an iterator, as a copy.
func runAt(it *pebble.Iterator) (run, error) {
	first, err := firstOf(it.Key())
	if err != nil {
		return run{}, err
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return run{}, err
	}
	return readRun(first, bytes.Clone(value))
}
