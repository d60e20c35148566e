package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Shard is a shard.Shard in memory.
type Shard struct {
	engine     *Engine
	id         shard.ID
	placements shard.Placements
	age        time.Duration
	indexer    shard.Indexer // nil: none
	staging    chan struct{} // holds a token while somebody stages of it

	mu        sync.Mutex // guards what follows
	truth     *truth
	placed    placement.Shard // epoch 0: the placement does not name the shard
	version   int64           // of the placement that was read last
	fence     chan struct{}   // closed when it is lifted; nil: none
	published view
	refreshed chan struct{} // closed and replaced by each refresh
	readers   map[*Reader]bool
	idle      *sync.Cond    // told when a reader is closed
	permits   int           // groups that are being written
	drained   chan struct{} // closed when the last permit is given back; nil: none is out
	ops       shard.OpCounts
	waits     shard.Waits
	closed    bool
}

// ID is the name under which it was opened.
func (s *Shard) ID() shard.ID { return s.id }

// Placed has epoch 0 when the placement does not name the shard.
func (s *Shard) Placed() placement.Shard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.placed
}

// Write applies each group of at most 1 MB at once.
func (s *Shard) Write(ctx context.Context, epoch int64, ops []shard.Op) []shard.Result {
	results := make([]shard.Result, 0, len(ops))
	for len(results) < len(ops) {
		if err := s.admit(ctx, epoch); err != nil {
			for len(results) < len(ops) {
				results = append(results, shard.Result{Err: err})
			}
			return results
		}
		results = append(results, s.writeGroup(ctx, slices.Collect(group(ops[len(results):])))...)
	}
	return results
}

// writeGroup writes under a permit. The mutex is held, and given back.
func (s *Shard) writeGroup(ctx context.Context, ops []shard.Op) []shard.Result {
	s.permit()
	s.mu.Unlock()
	results := make([]shard.Result, len(ops))
	applied := 0
	err := s.engine.options.Durable(ctx, fmt.Sprintf("write %d %d %q", s.id.Index, s.id.Number, ops[0].ID), len(ops), func(made int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for ; applied < made; applied++ {
			results[applied] = s.apply(&ops[applied])
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.giveBack()
	for i := range results {
		switch {
		case err != nil && i >= applied:
			results[i] = shard.Result{Err: err}
		case err != nil && results[i].Err == nil:
			results[i].Err = &shard.Unknown{Cause: err}
		}
	}
	return results
}

// maxGroup bounds what is written under one permit, in bytes of ids and sources.
const maxGroup = 1 << 20

// group yields the first ops that together stay within maxGroup, at least one.
func group(ops []shard.Op) iter.Seq[shard.Op] {
	return func(yield func(shard.Op) bool) {
		size := 0
		for i, op := range ops {
			size += len(op.ID) + len(op.Routing) + len(op.Source)
			if i > 0 && size > maxGroup || !yield(op) {
				return
			}
		}
	}
}

func (s *Shard) apply(op *shard.Op) shard.Result {
	if err := s.owns(op.Key); err != nil {
		return shard.Result{Err: err}
	}
	result := s.truth.apply(op, s.placed.Term, s.engine.options.Clock())
	switch {
	case result.Err != nil:
	case op.Delete:
		s.ops.Delete++
	default:
		s.ops.Index++
	}
	return result
}

// Get gives a row that belongs to the caller.
func (s *Shard) Get(ctx context.Context, epoch int64, ref shard.Ref) (shard.Row, bool, error) {
	if err := s.admit(ctx, epoch); err != nil {
		return shard.Row{}, false, err
	}
	defer s.mu.Unlock()
	if err := s.owns(ref.Key); err != nil {
		return shard.Row{}, false, err
	}
	s.ops.Get++
	return owned(s.truth.rows, ref, false)
}

// Acquire gives a reader of what was published last.
func (s *Shard) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	if err := s.admit(ctx, epoch); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	r := &Reader{shard: s, view: s.published}
	s.readers[r] = true
	return r, nil
}

// Refresh goes on behind a fence.
func (s *Shard) Refresh(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, s.over(0)
	}
	s.refresh()
	return s.published.seqNo, nil
}

// refresh publishes what there is if it is new. The mutex is held.
func (s *Shard) refresh() {
	if s.published.seqNo != s.truth.last() {
		s.ops.Refresh++
		s.publish()
	}
}

// Mend finds nothing to do: there are no files.
func (s *Shard) Mend(ctx context.Context) error {
	_, err := s.Refresh(ctx)
	return err
}

// Reindex finds nothing to do: segments are made out of the rows of each view.
func (s *Shard) Reindex(ctx context.Context, _ func(int64)) error {
	_, err := s.Refresh(ctx)
	return err
}

// Shed finds nothing to do: no segment is shared.
func (s *Shard) Shed(context.Context, func(context.Context, int) error) (read, left int64, err error) {
	return 0, 0, nil
}

// Merge finds nothing to do: there is one segment.
func (s *Shard) Merge(context.Context, shard.Merging) error { return nil }

// publish shows everything and wakes those who wait for it. The mutex is held, or
// nobody has the shard yet.
func (s *Shard) publish() {
	s.published = view{seqNo: s.truth.last(), rows: s.truth.rows, within: s.placed.Range, docs: s.truth.counts.docs, found: &segments{}}
	close(s.refreshed)
	s.refreshed = make(chan struct{})
}

// Discard has nothing to do: nothing is prepared for another opening.
func (s *Shard) Discard() {}

// AwaitRefresh fails when the shard is closed meanwhile.
func (s *Shard) AwaitRefresh(ctx context.Context, seqNo int64) error {
	for {
		s.mu.Lock()
		shown, closed, refreshed := s.published.seqNo >= seqNo, s.closed, s.refreshed
		s.mu.Unlock()
		switch {
		case shown:
			return nil
		case closed:
			return s.over(0)
		}
		select {
		case <-refreshed:
		case <-ctx.Done():
			return unavailable(ctx)
		}
	}
}

// Changes are those that there were when the iteration began.
func (s *Shard) Changes(ctx context.Context, after shard.Position, limit int) iter.Seq2[shard.Change, error] {
	return func(yield func(shard.Change, error) bool) {
		found, err := s.changes(after, limit)
		for i := 0; err == nil && i < len(found); i++ {
			if ctx.Err() != nil {
				err = unavailable(ctx)
			} else if !yield(found[i].Change, nil) {
				return
			}
		}
		if err != nil {
			yield(shard.Change{}, err)
		}
	}
}

func (s *Shard) changes(after shard.Position, limit int) ([]logged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.continues(after); err != nil {
		return nil, err
	}
	found, complete := s.truth.changes(after.SeqNo, limit)
	if !complete {
		return nil, s.expired(after)
	}
	return found, nil
}

// continues checks that a position is one of the shard's incarnation.
func (s *Shard) continues(p shard.Position) error {
	switch {
	case s.closed:
		return s.over(p.Incarnation)
	case p.Incarnation != s.placed.Term:
		return s.stale(p.Incarnation)
	}
	return nil
}

func (s *Shard) expired(p shard.Position) error {
	return &shard.Expired{ID: s.id, After: p, Oldest: s.truth.pruned + 1}
}

// Hold of an older position than the name has changes nothing.
func (s *Shard) Hold(ctx context.Context, name string, p shard.Position) (err error) {
	failed := s.engine.one(ctx, fmt.Sprintf("hold %d %d %q", s.id.Index, s.id.Number, name), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err = s.continues(p); err == nil && !s.truth.hold(name, p) {
			err = s.expired(p)
		}
	})
	return errors.Join(failed, err)
}

// Release never fails on an open shard.
func (s *Shard) Release(ctx context.Context, name string) (err error) {
	failed := s.engine.one(ctx, fmt.Sprintf("release %d %d %q", s.id.Index, s.id.Number, name), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			err = s.over(0)
			return
		}
		delete(s.truth.holds, name)
	})
	return errors.Join(failed, err)
}

// Holds belong to the caller.
func (s *Shard) Holds() map[string]shard.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.truth.holds)
}

// Prune compares now with the times that the engine's clock gave the changes.
func (s *Shard) Prune(_ context.Context, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.over(0)
	}
	bound := s.published.seqNo
	for r := range s.readers {
		bound = min(bound, r.seqNo)
	}
	s.truth.prune(bound, now.Add(-s.age), s.placed.Range)
	return nil
}

// Stats are of one instant.
func (s *Shard) Stats() shard.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.truth
	return shard.Stats{Docs: t.counts.docs, Tombstones: t.counts.tombstones, Bytes: t.counts.bytes,
		SeqNo: t.last(), Synced: t.last(), Refreshed: s.published.seqNo, Searchable: s.published.docs, Pruned: t.pruned, Ops: s.ops}
}

// Close refuses the requests that wait for a fence or a refresh. Closing again is
// harmless, and waits for nothing.
func (s *Shard) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.refreshed)
	if s.fence != nil {
		close(s.fence)
		s.fence = nil
	}
	for len(s.readers) > 0 || s.permits > 0 {
		s.idle.Wait()
	}
	s.engine.release(s.id)
	return nil
}
