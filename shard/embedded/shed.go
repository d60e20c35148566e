package embedded

import (
	"context"

	"github.com/reshelve/reshelve/fault"
)

// Shed takes the one slot of merges, so that it waits for what else is being merged.
func (s *local) Shed(ctx context.Context) (read, left int64, err error) {
	done, err := s.begin(0)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	if s.segments == nil {
		return 0, 0, nil
	}
	read, left, err = s.segments.shed(ctx)
	return read, left, s.failure(err)
}

func (x *segments) shed(ctx context.Context) (read, left int64, err error) {
	if _, err := x.commit(ctx); err != nil { // only what is in the manifest is written again
		return 0, 0, err
	}
	slot := x.shard.engine.merging
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
	case <-ctx.Done():
		return 0, 0, fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
	ctx, end := x.untilClosed(ctx)
	defer end()
	_, err = x.mergeSome(ctx, func(st *stack) []*entry {
		var foreign []*entry
		for _, e := range x.inManifest(st) {
			if x.foreign(e, st) {
				foreign, left = append(foreign, e), left+int64(e.Bytes())
			}
		}
		some := x.shard.engine.tiers.alike(foreign)
		for _, e := range some {
			read += int64(e.Bytes())
		}
		left -= read
		return some
	})
	if err == nil && read > 0 && left == 0 {
		left = 1 // the next call sees that nothing is
	}
	return read, left, err
}

// foreign reports whether a segment holds docs outside of the range that is shown.
func (x *segments) foreign(e *entry, st *stack) bool {
	out, err := x.shard.engine.narrowed.of(e.Segment, st.covers)
	return err == nil && out.Count() > 0
}
