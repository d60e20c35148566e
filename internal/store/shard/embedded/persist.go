package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// commit writes what is in memory alone to a file, and a manifest of all. It reports
// whether there was something to write.
func (x *segments) commit(ctx context.Context) (needed bool, err error) {
	var base *stack
	defer func() { base.release() }()
	err = x.inTurn(ctx, nil, func() error {
		base = x.retained()
		needed = x.uncommitted(base)
		return nil
	})
	if err != nil || !needed {
		return false, err
	}
	inRAM := base.inMemory()
	if len(inRAM) == 0 {
		err = x.inTurn(ctx, nil, x.store)
	} else {
		var r rewritten
		if r, err = x.rewrite(ctx, inRAM, true); err == nil {
			err = x.replaceAndStore(ctx, r)
		}
	}
	if err == nil {
		x.sweep()
	}
	return true, err
}

// replaceAndStore puts a file into the place of its sources, and into the manifest.
func (x *segments) replaceAndStore(ctx context.Context, r rewritten) error {
	return x.inTurn(ctx, r.file, func() error {
		if err := x.replace(r); err != nil {
			return err
		}
		return x.store()
	})
}

// finishWithin is how long a closing shard indexes what was written last. More is
// indexed when it is opened.
const finishWithin = 2 * time.Second

// finish writes what is not in the manifest when the shard closes, so that it is not
// made again when it is opened.
func (x *segments) finish() {
	if x.discarded.Load() || x.shard.engine.disk().ReadOnly != nil {
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
	if !d.is || d.unsure || d.committed != st.indexed || d.covers != st.covers || len(d.entries) != len(st.entries) {
		return true
	}
	for _, e := range st.entries {
		if stored, is := d.masks[e.number]; !is || stored != e.hidden {
			return true
		}
	}
	return false
}

// mergeFiles merges a tier of files, one that hides most of its segment, or young ones of a shard at rest:
// one merge at a time in all of the engine.
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
	return x.handleResult(err) && more
}

// mergeSome merges files that are chosen with the turn held. Wrote, if it is not nil, is told of
// bytes as they are written, without the turn.
func (x *segments) mergeSome(ctx context.Context, wrote func(context.Context, int) error, choose func(*stack) []*entry) (more bool, err error) {
	var base *stack
	var sources []*entry
	defer func() { base.release() }()
	err = x.inTurn(ctx, nil, func() error {
		base = x.retained()
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
	if err = x.replaceAndStore(ctx, r); err == nil {
		x.sweep()
	}
	return true, err
}

// mergeable are the entries to merge, of those that are files. What hides most of its segment
// because another shard shows that is left to shedding, at the pace that searches allow. The
// turn is held.
func (x *segments) mergeable(st *stack) []*entry {
	files := st.files()
	t := x.shard.engine.tiers
	if worst := t.wasted(files, func(e *entry) bool { return x.foreign(e, st) }); worst != nil {
		return []*entry{worst}
	}
	if ripe := t.ripe(files, smallFile); ripe != nil {
		return ripe
	}
	return x.mergeableAtRest(st, files)
}

// rest is since when a stack has been the same.
type rest struct {
	indexed int64
	covers  routing.Range
	since   time.Time
}

// mergeableAtRest are the entries to merge when nothing has been indexed for restAfter; if something
// has, the shard is looked at again. Left are segments that other shards show too, since they would
// no longer share the file, and a large one beside little, which would be written again for each few
// documents. No merge at rest is worth a full disk. The turn is held.
func (x *segments) mergeableAtRest(st *stack, files []*entry) []*entry {
	t := x.shard.engine.tiers.atRest()
	small := slices.DeleteFunc(files, func(e *entry) bool { return e.Docs() >= young })
	if x.pending.Load() > 0 || t.ripe(small, smallFile) == nil {
		return nil
	}
	if x.rest.indexed != st.indexed || x.rest.covers != st.covers {
		x.rest = rest{st.indexed, st.covers, time.Now()}
	}
	if left := restAfter - time.Since(x.rest.since); left > 0 {
		x.lookAgain(left)
		return nil
	}
	some := t.ripe(slices.DeleteFunc(small, func(e *entry) bool { return e.shown < e.Docs() && x.foreign(e, st) }), smallFile)
	if !balanced(some) {
		return nil
	}
	if x.roomFor(some) != nil {
		x.lookAgain(restAfter)
		return nil
	}
	return some
}

// balanced reports whether what all entries but the largest show is worth writing that one again.
func balanced(entries []*entry) bool {
	const part = 8
	all, largest := 0, 0
	for _, e := range entries {
		all, largest = all+e.shown, max(largest, e.shown)
	}
	return len(entries) > 0 && part*(all-largest) >= largest
}

// lookAgain sees some time from now whether there is something to do.
func (x *segments) lookAgain(after time.Duration) {
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	x.arm(after)
}

// roomFor checks that writing entries again leaves the free space above the low-water mark.
func (x *segments) roomFor(sources []*entry) error {
	need := int64(0)
	for _, e := range sources {
		need += int64(e.Bytes())
	}
	disk := x.shard.engine.Health().Disk
	if disk.LowWater > 0 && disk.Free-need < disk.LowWater {
		return fault.New(fault.Unavailable, "writing segments again takes %d bytes, and %d are free of which %d are kept", need, disk.Free, disk.LowWater)
	}
	return nil
}

// sweep removes files that are not needed any more. That they cannot be removed is no
// failure: they are when the folder is opened.
func (x *segments) sweep() { x.shard.engine.sweep(x.shard.id.Index) }
