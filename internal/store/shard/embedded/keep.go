package embedded

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// worker runs a function behind the scenes, one call at a time, as long as it says that
// there is more to do.
type worker struct {
	running atomic.Bool
	again   atomic.Bool // somebody called meanwhile
}

// call makes the function run, now or once more. Start gives it a goroutine, or refuses.
func (w *worker) call(start func(run func()) bool, do func() (more bool)) {
	w.again.Store(true)
	if !w.running.CompareAndSwap(false, true) {
		return
	}
	if !start(func() {
		for w.begins() {
			if do() {
				w.again.Store(true)
			}
		}
	}) {
		w.running.Store(false)
	}
}

// begins reports whether to run again; if not, the worker has ended.
func (w *worker) begins() bool {
	if w.again.Swap(false) {
		return true
	}
	w.running.Store(false)
	return w.again.Load() && w.running.CompareAndSwap(false, true)
}

// keeper is what keeps the segments of a shard few and their memory bounded.
type keeper struct {
	small, large worker          // early indexing and commits, and merges of files
	due          atomic.Bool     // a commit is
	alarm        *time.Timer     // makes it so; guarded by the shard's mutex
	rings        time.Time       // when the alarm does; guarded by the shard's mutex
	restTill     atomic.Int64    // nothing is written to files before, in nanoseconds of time.Time
	rest         rest            // guarded by the turn
	ctx          context.Context // ends when the shard closes
	stop         context.CancelFunc
}

// Tests have less patience.
var (
	commitAfter = 30 * time.Second // of what is not in a manifest
	restAfter   = 30 * time.Second // without a write a shard is at rest, and has its young segments merged
	retryAfter  = 5 * time.Second  // of what could not be written
)

// wake sees whether there is something to do.
func (x *segments) wake() {
	x.small.call(x.start, x.tend)
}

// start gives work a goroutine, for which Close waits.
func (x *segments) start(run func()) bool {
	end, err := x.shard.begin(0)
	if err != nil {
		return false
	}
	go func() {
		defer end()
		run()
	}()
	return true
}

// arm makes a commit due some time from now, or earlier if one is. The shard's mutex is held.
func (x *segments) arm(after time.Duration) {
	at := time.Now().Add(after)
	switch {
	case x.ctx.Err() != nil:
	case x.alarm == nil:
		x.alarm, x.rings = time.AfterFunc(after, x.ring), at
	case at.Before(x.rings) && x.alarm.Stop():
		x.alarm.Reset(after)
		x.rings = at
	}
}

func (x *segments) ring() {
	x.shard.mu.Lock()
	x.alarm = nil
	x.shard.mu.Unlock()
	x.due.Store(true)
	x.wake()
}

// halt ends the work behind the scenes, before Close waits for it. The shard's mutex is
// held.
func (x *segments) halt() {
	x.stop()
	if x.alarm != nil {
		x.alarm.Stop()
		x.alarm = nil
	}
}

// tend does one thing that is due.
func (x *segments) tend() (more bool) {
	t := x.shard.engine.tiers
	more, err := true, error(nil)
	switch resting := x.resting(); {
	case x.ctx.Err() != nil:
		return false
	case !resting && x.heaviest(): // before more is indexed: writers who never rest would fill the memory
		more, err = x.commitNow()
	case x.pending.Load() >= t.early:
		err = x.indexEarly(x.ctx)
	case !resting && x.due.Load():
		more, err = x.commitNow()
	default:
		more, err = x.mergeInMemory(x.ctx)
	}
	return x.handleResult(err) && more
}

func (x *segments) commitNow() (more bool, err error) {
	x.due.Store(false)
	more, err = x.commit(x.ctx)
	x.large.call(x.start, x.mergeFiles)
	return more, err
}

// handleResult logs what failed, and lets the disk rest after it.
func (x *segments) handleResult(err error) bool {
	switch {
	case err == nil:
		return true
	case x.ctx.Err() != nil:
		return false
	case errors.As(err, new(*segment.Damaged)):
		if err = x.mend(x.ctx); err == nil {
			return true
		}
	}
	s := x.shard
	if x.lacks() && fault.Is(err, fault.Corrupt) { // that was logged, and a commit is due when it has been made again
		return false
	}
	s.engine.unwritten.Store(&err)
	s.engine.options.Logger.Warn("store: segments could not be written, and it is tried again", "shard", place(s.id), "cause", err)
	x.restTill.Store(time.Now().Add(retryAfter).UnixNano())
	s.mu.Lock()
	defer s.mu.Unlock()
	x.arm(retryAfter)
	return false
}

// resting reports whether files are not to be written: after a failure, and when the disk
// is nearly full.
func (x *segments) resting() bool {
	left := time.Duration(x.restTill.Load() - time.Now().UnixNano())
	if left <= 0 {
		if x.shard.engine.disk().ReadOnly == nil {
			return false
		}
		left = retryAfter
	}
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	x.arm(left) // an alarm from before may have rung too early, and nobody else would
	return true
}

// heaviest reports whether segments in memory take more than they may, and those of this
// shard the most. Another that does is woken. When they take twice as much, each shard has to
// write its own.
func (x *segments) heaviest() bool {
	e := x.shard.engine
	switch all := e.inRAM.Load(); {
	case all <= e.tiers.held:
		return false
	case all > 2*e.tiers.held && x.inRAM.Load() > 0:
		return true
	}
	most := x
	for _, s := range e.open() {
		if s.segments != nil && s.segments.inRAM.Load() > most.inRAM.Load() {
			most = s.segments
		}
	}
	if most != x {
		most.wake()
	}
	return most == x
}

// indexEarly takes what was written into the stack, for a refresh to come.
func (x *segments) indexEarly(ctx context.Context) error {
	if err := x.take(ctx); err != nil {
		return err
	}
	defer x.give()
	v, base, err := x.newer(true)
	if err != nil || v == nil {
		return err
	}
	_, _, err = x.advance(ctx, v, base, false)
	return err
}

// relieve indexes for a writer where writes come faster than they are indexed.
func (x *segments) relieve(ctx context.Context) {
	if x.pending.Load() > 4*x.shard.engine.tiers.early {
		ctx, end := x.untilClosed(ctx)
		defer end()
		_ = x.indexEarly(ctx) // who refreshes is told
	}
}

// mergeInMemory merges one tier of the segments in memory.
func (x *segments) mergeInMemory(ctx context.Context) (more bool, err error) {
	t := x.shard.engine.tiers
	base := x.retained()
	defer base.release()
	var small []*entry
	for _, e := range base.entries {
		if e.name == "" && int64(e.Bytes()) <= t.held/int64(2*t.fan(tier(e.shown))) {
			small = append(small, e)
		}
	}
	sources := t.ripe(small, 1)
	if sources == nil {
		return false, nil
	}
	r, err := x.rewrite(ctx, sources, false)
	if err != nil {
		return false, err
	}
	return true, x.inTurn(ctx, r.file, func() error { return x.replace(r) })
}

// retained is the stack of now, with one more use.
func (x *segments) retained() *stack {
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	return x.stack.retain()
}

// inTurn does something with the turn held, and takes one use of a file with it, if there
// is one.
func (x *segments) inTurn(ctx context.Context, f *file, do func() error) error {
	if f != nil {
		defer f.release()
	}
	if err := x.take(ctx); err != nil {
		return err
	}
	defer x.give()
	return do()
}
