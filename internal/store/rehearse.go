package store

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Rehearse does what a hand-off of the shards from would do, without a fence and without changing
// who owns what, and tells how long each step took: what was written last is staged, and the
// placement is swapped for itself. What is being written takes one sync to drain, as that swap
// does where the coordination store is on the same disk; the new owners read what the staging
// has written, and take it up, in twice its time (BenchmarkHandOffToMany).
func (s *Store) Rehearse(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (steps Steps, err error) {
	h := handOff{store: s, index: index, from: from}
	if err := h.sources(ctx); err != nil {
		return steps, err
	}
	h.mark = time.Now()
	staged, err := s.engine.Stage(ctx, index, from, to)
	if err != nil {
		return steps, err
	}
	h.stepped(&steps.Stage)
	if err := staged.Close(); err != nil {
		return steps, err
	}
	steps.Change, err = s.Probe(ctx, index)
	steps.Drain, steps.Open = steps.Change, 2*steps.Stage
	return steps, err
}

// Probe tells how long it takes to change the placement of an index: it is swapped for itself.
func (s *Store) Probe(ctx context.Context, index uint32) (time.Duration, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	begun := time.Now()
	record, _, err := s.readPlacement(ctx, index)
	if err == nil {
		_, err = s.coord.Swap(ctx, record.Key, record.Revision, record.Value)
	}
	return time.Since(begun), fault.At(err, record.Key)
}
