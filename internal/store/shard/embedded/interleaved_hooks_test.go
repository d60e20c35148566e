package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// Still keeps a shard that was just opened from doing anything behind the scenes by itself.
func Still(s shard.Shard) {
	x := s.(*local).segments
	x.small.running.Store(true)
	x.large.running.Store(true)
	x.mending.running.Store(true)
}

// StillCounting keeps an engine from counting what was estimated, but when it is told to.
func (e *Engine) StillCounting() { e.counting <- struct{}{} }

// countOnce counts again what was estimated.
func (s *local) countOnce(ctx context.Context) error {
	<-s.engine.counting
	defer s.engine.StillCounting()
	return s.countAgain(ctx)
}

// Work is the work behind the scenes of a shard that is still, by name: each does once what it has to
// do.
func Work(s shard.Shard) map[string]func(context.Context) error {
	l := s.(*local)
	x := l.segments
	return map[string]func(context.Context) error{
		"refresh":         func(ctx context.Context) error { _, err := x.refresh(ctx); return err },
		"index early":     x.indexEarly,
		"merge in memory": func(ctx context.Context) error { _, err := x.mergeInMemory(ctx); return err },
		"commit":          func(ctx context.Context) error { _, err := x.commit(ctx); return err },
		"merge files":     func(context.Context) error { x.mergeFiles(); return nil },
		"shed":            func(ctx context.Context) error { _, _, err := x.shed(ctx, nil); return err },
		"prune":           func(ctx context.Context) error { return l.Prune(ctx, time.Now().Add(time.Hour)) },
		"sweep":           func(context.Context) error { x.sweep(); return nil },
		"count":           l.countOnce,
		"reload":          l.Reload,
		"reopen":          func(context.Context) error { l.engine.reopen(); return nil },
		"mend":            x.mendOne,
		"index again":     func(ctx context.Context) error { _, err := x.again(ctx, true, nil); return err },
		"rebuild":         func(ctx context.Context) error { _, err := x.again(ctx, false, nil); return err },
		"force merge":     func(ctx context.Context) error { return x.merge(ctx, shard.Merging{Segments: 1}) },
	}
}

// mendOne takes the oldest segment of a shard for damaged.
func (x *segments) mendOne(ctx context.Context) error {
	err := x.inTurn(ctx, nil, func() error {
		st := x.retained()
		defer st.release()
		if len(st.entries) > 0 {
			x.lose(map[*file]error{st.entries[0].file: errors.New("a test says so")})
		}
		return nil
	})
	if err == nil {
		_, err = x.refresh(ctx)
	}
	return err
}

// Interleave has work behind the scenes wait where it meets other work, until it is undone: see
// crossing. Taken says whether what is taken next is somebody's; nil: something was given up.
func Interleave(wait func(taken func() bool)) (undo func()) {
	was := crossing
	crossing = func(before chan struct{}) {
		if before == nil {
			wait(nil)
		} else {
			wait(func() bool { return len(before) > 0 })
		}
	}
	return func() { crossing = was }
}
