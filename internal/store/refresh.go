package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// refresher remembers which shards are dirty, and when each is due.
type refresher struct {
	mu    sync.Mutex
	due   map[shard.Shard]time.Time
	woken chan struct{} // holds one token while a shard has become dirty
}

func (r *refresher) init() {
	r.due = map[shard.Shard]time.Time{}
	r.woken = make(chan struct{}, 1)
}

// mark makes a shard dirty; it is due after interval, or before when it was due before;
// never when interval is negative.
func (r *refresher) mark(sh shard.Shard, interval time.Duration) {
	if interval < 0 {
		return
	}
	due := time.Now().Add(interval)
	r.mu.Lock()
	before, known := r.due[sh]
	sooner := !known || due.Before(before)
	if sooner {
		r.due[sh] = due
	}
	r.mu.Unlock()
	if !sooner {
		return
	}
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// take removes the shards that are due at now, in the order of indices and numbers, and says how
// long the next has time; negative when none is dirty.
func (r *refresher) take(now time.Time) (due []shard.Shard, next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next = -1
	for sh, at := range r.due {
		left := at.Sub(now)
		if left <= 0 {
			delete(r.due, sh)
			due = append(due, sh)
		} else if next < 0 || left < next {
			next = left
		}
	}
	slices.SortFunc(due, func(a, b shard.Shard) int {
		return cmp.Or(cmp.Compare(a.ID().Index, b.ID().Index), cmp.Compare(a.ID().Number, b.ID().Number))
	})
	return due, next
}

// refreshDirty publishes readers of dirty shards when they are due, until ctx ends.
func (s *Store) refreshDirty(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next := s.refresher.take(time.Now())
		for _, sh := range due {
			err := s.guarded("refresh", func() error {
				_, err := sh.Refresh(ctx)
				return err
			})
			var bug *panicked
			if err != nil && ctx.Err() == nil && !errors.As(err, &bug) && !fault.Is(err, fault.Stale) && s.serves(sh) {
				s.options.Logger.Warn("refresh failed, it is tried again", "index", sh.ID().Index, "shard", sh.ID().Number, "error", err)
				s.refresher.mark(sh, time.Second)
			}
		}
		if next < 0 {
			next = time.Hour
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.refresher.woken:
		}
	}
}

// serves reports whether a shard is of an open index. What fails in another one is of no
// interest: it was closed or deleted meanwhile.
func (s *Store) serves(sh shard.Shard) bool {
	for _, idx := range s.view.Load().indices {
		if idx.shards[sh.ID().Number] == sh {
			return true
		}
	}
	return false
}

// prune lets shards forget what nobody needs, now and then, until ctx ends. The first
// time comes soon: a store that never runs for long would else forget nothing.
func (s *Store) prune(ctx context.Context) {
	timer := time.NewTimer(min(s.options.PruneEvery, time.Second))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(s.options.PruneEvery)
		for _, idx := range s.view.Load().indices {
			for _, sh := range idx.each() {
				s.pruneShard(ctx, idx, sh)
			}
		}
	}
}

func (s *Store) pruneShard(ctx context.Context, idx *index, sh shard.Shard) {
	err := s.guarded("prune", func() error { return sh.Prune(ctx, s.options.Clock()) })
	var full *shard.ReadOnly // which is told once, by the engine
	var bug *panicked
	if err == nil || ctx.Err() != nil || fault.Is(err, fault.Stale) || errors.As(err, &full) || errors.As(err, &bug) || !s.serves(sh) {
		return
	}
	s.options.Logger.Warn("pruning failed, it is tried again", "index", idx.record.Name, "shard", sh.ID().Number, "error", err)
}

// Refresh publishes to searches what has been written to the indices, and says how
// many shards that were.
func (s *Store) Refresh(ctx context.Context, e catalog.Expression) (int, error) {
	return s.each(ctx, e, func(_ *index, sh shard.Shard) error {
		_, err := sh.Refresh(ctx)
		return err
	})
}

// Flush says how many shards the indices have, and counts: everything that was acknowledged is
// synced already.
func (s *Store) Flush(ctx context.Context, e catalog.Expression) (int, error) {
	return s.each(ctx, e, func(idx *index, sh shard.Shard) error {
		idx.tallies.count(sh.ID().Number, func(t *tally) { t.flushes++ })
		return nil
	})
}

// Merging is what segments are merged for.
type Merging = shard.Merging

// Merge has the segments of the indices merged, one shard after the other.
func (s *Store) Merge(ctx context.Context, e catalog.Expression, wish shard.Merging) (int, error) {
	return s.each(ctx, e, func(_ *index, sh shard.Shard) error {
		if _, err := sh.Refresh(ctx); err != nil {
			return err
		}
		return sh.Merge(ctx, wish)
	})
}

// each does something with every shard of the indices. Of an index whose shards change
// meanwhile it does it with all again.
func (s *Store) each(ctx context.Context, e catalog.Expression, do func(*index, shard.Shard) error) (shards int, err error) {
	names, err := s.Resolve(ctx, e)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := s.eachOf(name, do)
		for round := 1; fault.Is(err, fault.Stale) && pause(ctx, round) == nil; round++ {
			if err = s.reload(ctx, name); err == nil {
				n, err = s.eachOf(name, do)
			} else if fault.Is(err, fault.NotFound) {
				n, err = 0, nil // deleted meanwhile
			}
		}
		if shards += n; err != nil {
			return shards, fault.At(err, "index "+name)
		}
	}
	return shards, nil
}

func (s *Store) eachOf(name string, do func(*index, shard.Shard) error) (shards int, err error) {
	idx := s.view.Load().indices[name]
	if idx == nil {
		return 0, nil
	}
	for _, sh := range idx.each() {
		if err := do(idx, sh); err != nil {
			return shards, err
		}
		shards++
	}
	return shards, nil
}
