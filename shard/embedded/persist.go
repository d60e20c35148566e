package embedded

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/fault"
)

// commit writes what is in memory alone to a file, and a manifest of all. It reports
// whether there was something to write.
func (x *segments) commit(ctx context.Context) (needed bool, err error) {
	var base *stack
	moved := int64(0)
	defer func() { base.release() }()
	err = x.inTurn(ctx, nil, func() error {
		base, moved = x.retained(), x.moved
		needed = x.uncommitted(base)
		return nil
	})
	if err != nil || !needed {
		return false, err
	}
	written := map[*file]bool{} // files of which the base holds all up to its number
	var inRAM []*entry
	for _, e := range base.entries {
		if e.name == "" {
			inRAM = append(inRAM, e)
		} else {
			written[e.file] = true
		}
	}
	var r rewritten
	if len(inRAM) > 0 {
		if r, err = x.rewrite(ctx, ordered(inRAM), true); err != nil {
			return true, err
		}
		written[r.file] = true
	}
	err = x.inTurn(ctx, r.file, func() error {
		if x.moved != moved { // they are in another file
			x.due.Store(true)
			return nil
		}
		if r.file != nil {
			if err := x.replace(r); err != nil {
				return err
			}
		}
		st := x.retained()
		defer st.release()
		if st.redone != base.redone || len(st.lost) > 0 { // what was read again is not in these files
			x.due.Store(true)
			return nil
		}
		return x.store(base.indexed, st.covers, st, func(e *entry) bool { return written[e.file] || x.durable.has(e) })
	})
	if err == nil {
		x.sweep()
	}
	return true, err
}

// finishWithin is how long a closing shard indexes what was written last. More is
// indexed when it is opened.
const finishWithin = 2 * time.Second

// finish writes what is not in the manifest when the shard closes, so that it is not
// made again when it is opened.
func (x *segments) finish() {
	if x.shard.engine.refusal() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), finishWithin)
	defer cancel()
	if x.pending.Load() <= x.shard.engine.tiers.early {
		_ = x.indexEarly(ctx)
	}
	if _, err := x.commit(context.Background()); err != nil {
		x.shard.engine.options.Logger.Warn("store: segments are made again when the shard is opened", "shard", place(x.shard.id), "cause", err)
	}
}

// uncommitted reports whether a stack holds more than the manifest. The turn is held.
func (x *segments) uncommitted(st *stack) bool {
	d := &x.durable
	if len(st.lost) > 0 || st.indexed < 0 {
		return false
	}
	if !d.is || d.unsure || d.redone != st.redone || d.committed != st.indexed || d.covers != st.covers {
		return true
	}
	for _, e := range st.entries {
		if !d.has(e) {
			return true
		}
	}
	return false
}

// mergeFiles merges a tier of files, or one that hides most of its segment: one merge at
// a time in all of the engine.
func (x *segments) mergeFiles() (more bool) {
	if x.resting() {
		return false
	}
	slot := &slot{of: x.shard.engine.merging}
	if slot.take(x.ctx) != nil {
		return false
	}
	defer slot.give()
	more, err := x.mergeSome(x.ctx, nil, x.mergeable)
	return x.went(err) && more
}

// mergeSome merges files that are chosen with the turn held. Wrote, if it is not nil, is told of
// bytes as they are written, without the turn.
func (x *segments) mergeSome(ctx context.Context, wrote func(context.Context, int) error, choose func(*stack) []*entry) (more bool, err error) {
	var base *stack
	var sources []*entry
	moved := int64(0)
	defer func() { base.release() }()
	err = x.inTurn(ctx, nil, func() error {
		base, moved = x.retained(), x.moved
		sources = choose(base)
		return nil
	})
	if err != nil || sources == nil {
		return false, err
	}
	if err := x.roomFor(sources); err != nil {
		return false, err
	}
	r, err := x.rewriteTold(ctx, sources, wrote)
	if err != nil {
		return false, err
	}
	err = x.inTurn(ctx, r.file, func() error {
		if x.moved != moved { // they may show more now
			return nil
		}
		if err := x.replace(r); err != nil {
			return err
		}
		st := x.retained()
		defer st.release()
		d := &x.durable
		if !d.of(st) {
			return nil // the next commit tells of it
		}
		return x.store(d.committed, d.covers, st, func(e *entry) bool { return e.file == r.file || d.has(e) })
	})
	if err == nil {
		x.sweep()
	}
	return true, err
}

// inManifest are the entries of a stack that are in the manifest. The turn is held.
func (x *segments) inManifest(st *stack) (named []*entry) {
	if !x.durable.of(st) {
		return nil
	}
	for _, e := range st.entries {
		if x.durable.has(e) {
			named = append(named, e)
		}
	}
	return named
}

// mergeable are the entries to merge, of those in the manifest. What hides most of its segment
// because another shard shows that is left to who sheds it, at the pace that searches allow. The
// turn is held.
func (x *segments) mergeable(st *stack) []*entry {
	named := x.inManifest(st)
	t := x.shard.engine.tiers
	if worst := t.wasted(named, func(e *entry) bool { return x.foreign(e, st) }); worst != nil {
		return []*entry{worst}
	}
	return t.ripe(named, smallFile)
}

// roomFor checks that a merge leaves the free space above the low-water mark.
func (x *segments) roomFor(sources []*entry) error {
	need := int64(0)
	for _, e := range sources {
		need += int64(e.Bytes())
	}
	disk := x.shard.engine.Health().Disk
	if disk.LowWater > 0 && disk.Free-need < disk.LowWater {
		return fault.New(fault.Unavailable, "a merge takes %d bytes, and %d are free of which %d are kept", need, disk.Free, disk.LowWater)
	}
	return nil
}

// sweep removes files that are not needed any more. That they cannot be removed is no
// failure: they are when the folder is opened.
func (x *segments) sweep() { x.shard.engine.sweep(x.shard.id.Index) }
