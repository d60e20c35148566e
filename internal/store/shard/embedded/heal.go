package embedded

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Mend takes as long as reading all segments does, and where they do not show what there is, the names
// of all rows.
func (s *local) Mend(ctx context.Context) error {
	done, err := s.begin(0)
	if err != nil {
		return err
	}
	defer done()
	if s.segments == nil {
		_, err = s.Refresh(ctx)
		return err
	}
	return s.failure(s.segments.mend(ctx))
}

// mend reads all segments, takes away those that are damaged, and publishes a stack in
// which their documents are found again.
func (x *segments) mend(ctx context.Context) error {
	base := x.retained()
	bad, lacking := map[*file]error{}, x.lacks()
	for _, e := range base.entries {
		if ctx.Err() != nil {
			break
		}
		if err := e.Verify(); err != nil {
			bad[e.file] = err
		}
	}
	if len(bad) == 0 {
		wrong, err := base.miscounted()
		if err == nil && wrong && !lacking {
			x.shard.mu.Lock()
			x.recount = true
			x.notice(fault.New(fault.Corrupt, "its segments show another number of documents than was counted"))
			x.shard.mu.Unlock()
		}
		lacking = lacking || wrong
	}
	base.release()
	err := x.inTurn(ctx, nil, func() error { x.lose(bad); return nil })
	switch {
	case err != nil:
	case lacking:
		_, err = x.again(ctx, true, nil)
	default:
		_, err = x.refresh(ctx)
	}
	return err
}

// lose takes damaged files out of the stack.
func (x *segments) lose(bad map[*file]error) {
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	ed := newEdit(x.stack)
	for i := range ed.entries {
		e := &ed.entries[i]
		if e.lost = bad[e.file]; e.lost != nil {
			x.damaged(e.lost)
		}
	}
	if slices.ContainsFunc(ed.entries, func(e edited) bool { return e.lost != nil }) {
		x.set(ed.rest())
	}
}
