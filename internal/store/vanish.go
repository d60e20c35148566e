package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// vanishing are the shards that own nothing any more and are still open, since somebody reads
// them; true: what is left of one is to be removed when it has been closed.
type vanishing struct {
	mu sync.Mutex
	of map[shard.ID]bool
}

// vanish closes a shard that owns nothing any more, when nobody reads it.
func (s *Store) vanish(idx *index, sh shard.Shard) {
	id := sh.ID()
	v := &s.vanishing
	v.mu.Lock()
	if v.of == nil {
		v.of = map[shard.ID]bool{}
	}
	v.of[id] = false
	v.mu.Unlock()
	s.running.Go(func() {
		err := s.guarded("closing a shard", func() error {
			failed := sh.Close()
			v.mu.Lock()
			forgotten := v.of[id]
			delete(v.of, id)
			v.mu.Unlock()
			if failed != nil || !forgotten {
				return failed
			}
			what := fmt.Sprintf("what shard %d of index %s has left", id.Number, idx.record.Name)
			return s.removeOrLater(context.WithoutCancel(s.background), what, func(ctx context.Context) error { return s.engine.Forget(ctx, id) })
		})
		if err != nil {
			s.options.Logger.Warn("a shard that owns nothing any more was not closed, or left something", "index", idx.record.Name, "shard", id.Number,
				"error", fault.At(err, fmt.Sprintf("shard %d", id.Number)))
		}
	})
}

// ForgetShards removes what is left of shards that own nothing any more. One that is still
// read, in a point in time or a scroll, is not waited for: it is forgotten when it has been
// closed, or at the next start.
func (s *Store) ForgetShards(ctx context.Context, index uint32, numbers []uint32) error {
	var failed error
	for _, number := range numbers {
		id := shard.ID{Index: index, Number: number}
		if s.forgottenLater(id) {
			continue
		}
		if err := s.engine.Forget(ctx, id); err != nil && failed == nil {
			failed = fault.At(err, fmt.Sprintf("shard %d", number))
		}
	}
	return failed
}

// forgottenLater tells whether a shard is still being closed, and has it forgotten then.
func (s *Store) forgottenLater(id shard.ID) bool {
	v := &s.vanishing
	v.mu.Lock()
	defer v.mu.Unlock()
	_, is := v.of[id]
	if is {
		v.of[id] = true
	}
	return is
}
