package embedded

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
)

// Shed takes the one slot of merges, so that it waits for what else is being merged.
func (s *local) Shed(ctx context.Context, wrote func(context.Context, int) error) (read, left int64, err error) {
	done, err := s.begin(0)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	if s.segments == nil {
		return 0, 0, nil
	}
	read, left, err = s.segments.shed(ctx, wrote)
	return read, left, s.failure(err)
}

func (x *segments) shed(ctx context.Context, wrote func(context.Context, int) error) (read, left int64, err error) {
	ctx, end := x.untilClosed(ctx)
	defer end()
	if err := x.whole(ctx); err != nil { // only what is a file is written again
		return 0, 0, err
	}
	slot := &slot{of: x.shard.engine.merging}
	if err := slot.take(ctx); err != nil {
		return 0, 0, err
	}
	defer slot.give()
	_, err = x.mergeSome(ctx, slot.lent(wrote), func(st *stack) []*entry {
		var foreign []*entry
		for _, e := range st.files() {
			if x.foreign(e, st) {
				foreign, left = append(foreign, e), left+int64(e.Bytes())
			}
		}
		some := x.shard.engine.tiers.alike(foreign, smallFile)
		for _, e := range some {
			read += int64(e.Bytes())
		}
		left -= read
		return some
	})
	if err == nil && wrote != nil && slot.wrote > 0 {
		slot.give()
		err = wrote(ctx, slot.wrote)
	}
	if err == nil && read > 0 {
		x.lookAgain(restAfter) // what was written now is this shard's own
	}
	if err == nil && read > 0 && left == 0 {
		left = 1 // the next call sees that nothing is
	}
	return read, left, err
}

// whole makes what is lost again, and writes what is in memory alone.
func (x *segments) whole(ctx context.Context) error {
	st := x.retained()
	lost := len(st.lost) > 0
	st.release()
	if lost {
		if _, err := x.refresh(ctx); err != nil {
			return err
		}
	}
	_, err := x.commit(ctx)
	return err
}

// slot is the one of merges. Used by one goroutine.
type slot struct {
	of    chan struct{}
	taken bool
	wrote int // bytes, since it was lent
}

func (s *slot) take(ctx context.Context) error {
	crossing(s.of)
	select {
	case s.of <- struct{}{}:
		s.taken = true
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
}

func (s *slot) give() {
	if s.taken {
		<-s.of
		s.taken = false
		crossing(nil)
	}
}

// lentAfter is how many bytes are written before others may have the slot.
var lentAfter = 256 << 10

// lent calls wrote now and then, and gives the slot to others for as long as that waits.
func (s *slot) lent(wrote func(context.Context, int) error) func(context.Context, int) error {
	if wrote == nil {
		return nil
	}
	return func(ctx context.Context, bytes int) error {
		if s.wrote += bytes; s.wrote < lentAfter {
			return nil
		}
		s.give()
		err := wrote(ctx, s.wrote)
		s.wrote = 0
		if err == nil {
			err = s.take(ctx)
		}
		return err
	}
}

// foreign reports whether a segment holds docs outside of the range that is shown.
func (x *segments) foreign(e *entry, st *stack) bool {
	narrowed := &x.shard.engine.narrowed
	out, err := narrowed.of(e.Segment, st.covers)
	if err == nil && out.Count() == 0 {
		narrowed.drop(e.Segment, st.covers)
		return false
	}
	return err == nil
}
