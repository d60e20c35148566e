package embedded

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// segments keeps the documents of a shard findable. Its stack is made from the last
// one, beside the shard's mutex, by whose turn it is; it counts when the last one is still
// the last.
type segments struct {
	shard     *local
	indexer   shard.Indexer
	turn      chan struct{} // holds something while it is somebody's
	pending   atomic.Int64  // bytes that were written and are not in the stack
	numbers   atomic.Uint64 // the last that an entry was given
	discarded atomic.Bool   // the index is to be dropped: nothing is prepared for another opening
	inRAM     atomic.Int64  // bytes of the stack's segments in memory
	keeper
	repairs

	committed atomic.Int64 // sequence number of the manifest; -1: none
	durable   durable

	recent *recent // behind the stack; guarded by the shard's mutex

	stack *stack // at least as new as the published view's; guarded by the shard's mutex
}

func newSegments(s *local, indexer shard.Indexer) *segments {
	if indexer == nil {
		return nil
	}
	x := &segments{shard: s, indexer: indexer, turn: make(chan struct{}, 1)}
	x.committed.Store(-1)
	x.recent = &recent{room: &s.engine.room}
	x.ctx, x.stop = context.WithCancel(context.Background())
	return x
}

// crossing is called where work behind the scenes can meet other work: before it takes the turn of a
// shard or the slot of merges, and with nil after it has given one up. Tests decide here who goes on.
var crossing = func(before chan struct{}) {}

// take waits for the turn.
func (x *segments) take(ctx context.Context) error {
	crossing(x.turn)
	select {
	case x.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
}

func (x *segments) give() {
	<-x.turn
	crossing(nil)
}

// set makes a stack the newest. The shard's mutex is held.
func (x *segments) set(st *stack) {
	was, is := x.inRAM.Load(), st.inRAM()
	x.inRAM.Store(is)
	x.shard.engine.inRAM.Add(is - was)
	x.stack.release()
	x.stack = st
	x.judge(st)
}

// next is the stack of a view: what the base holds, without what was written since, and
// segments of that and of what the base lacks. Without a base all is read. It reads
// through the view alone.
//
// When it meets damage it begins again without what is damaged. It ends early with ctx,
// and when the shard is closed.
func (x *segments) next(ctx context.Context, v *view, base *stack) (*stack, error) {
	base.retain()
	for {
		st, rest, err := x.attempt(ctx, v, base)
		base.release()
		if err != nil || rest == nil {
			return st, err
		}
		base = rest
	}
}

// attempt is next, or what is left of the base where more turns out to be damaged.
func (x *segments) attempt(ctx context.Context, v *view, base *stack) (st, rest *stack, err error) {
	if base != nil {
		for _, n := range base.lost {
			if n.last > base.indexed { // another shard's numbers: its documents cannot be told from what was written since
				base = nil
				break
			}
		}
	}
	parts := []routing.Range{v.within}
	if base != nil {
		parts = without(v.within, base.covers)
	} else {
		base = &stack{indexed: v.seqNo, covers: v.within}
	}
	ed, h := newEdit(base), x.harvest(ctx, v)
	err = x.fill(ed, h, parts)
	if damage := ed.damage(); damage != nil {
		h.drop()
		x.damaged(damage)
		return nil, ed.rest(), nil
	}
	var more []*entry
	if err == nil {
		more, err = h.finish()
	}
	if err != nil {
		h.drop()
		return nil, nil, err
	}
	return newStack(v.seqNo, v.within, nil, append(ed.kept(), more...)).of(v.rows()), nil, nil
}

// fill hides and adds what makes the stack of the harvest's view. The parts are not in
// the base.
func (x *segments) fill(ed *edit, h *harvest, parts []routing.Range) error {
	v := h.view
	if !covers(v.within, ed.base.covers) {
		ed.narrow(v.within)
	}
	kept, any := v.within.Meet(ed.base.covers)
	ahead := ed.base.last() // a manifest names files of what was written behind its number, too
	var batch []shard.Change
	err := x.shard.since(v, ed.base.indexed, func(c shard.Change) (err error) {
		if c.Previous >= 0 {
			ed.hide(c.Ref, c.Previous)
		}
		if c.Op == shard.Put && any && kept.Contains(c.Key) && (c.SeqNo > ahead || !ed.shows(c.Ref, c.SeqNo)) {
			batch = append(batch, c)
		}
		if len(batch) == fetchRows {
			err = h.changed(batch)
			batch = batch[:0]
		}
		return err
	})
	if err == nil {
		err = h.changed(batch)
	}
	for _, part := range parts {
		if err == nil {
			err = h.scanned(part, []numbers{allNumbers}, ed)
		}
	}
	if err == nil && any && len(ed.base.lost) > 0 {
		err = h.scanned(kept, ed.base.lost, ed)
	}
	return err
}

// since gives the changes of a view behind a sequence number.
func (s *local) since(v *view, after int64, yield func(shard.Change) error) error {
	for next := after + 1; next <= v.seqNo; {
		var runs []run
		err := v.read(func(from *pebble.Snapshot) (err error) {
			runs, err = s.runsIn(from, next, v.seqNo)
			return err
		})
		if err != nil {
			return err
		}
		for i := range runs {
			var failed error
			_, err := runs[i].yield(&next, v.seqNo, func(c shard.Change) bool {
				failed = yield(c)
				return failed == nil
			})
			if err = errors.Join(err, failed); err != nil {
				return err
			}
		}
	}
	return nil
}
