package embedded

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// repairs are how a shard comes to show again what there is.
type repairs struct {
	mending worker
	tried   int  // how often since it was noticed; of the worker alone
	lacking bool // the stack does not show what there is; guarded by the shard's mutex
	recount bool // since its entries count wrongly, which no sum of theirs shows; guarded likewise
	made    [repairCauses]atomic.Int64
}

// Why documents were indexed that had been indexed before.
const (
	forCount  = iota // searches showed another number of documents than there were
	forDamage        // a file was damaged
	forOrder         // somebody ordered it
	repairCauses
)

// judge looks whether the newest stack shows as many documents as there are. If not, the shard makes
// it again by itself; that is logged once. The shard's mutex is held.
func (x *segments) judge(st *stack) {
	switch err := st.whole(); {
	case err != nil && !x.lacking:
		x.notice(err)
	case err == nil && st != nil && !x.recount && st.rows.known && st.rows.counted && len(st.lost) == 0:
		x.lacking = false
	}
}

// notice counts and logs that searches do not show what there is, and has it made again. The shard's
// mutex is held.
func (x *segments) notice(cause error) {
	x.lacking = true
	go x.mending.call(x.start, x.repair)
	x.made[forCount].Add(1)
	x.shard.engine.options.Logger.Error("store: searches do not show what there is; what they lack is indexed again", "shard", place(x.shard.id), "cause", cause)
}

// mostDoubled is how often the time is doubled until a repair is tried again.
const mostDoubled = 6

func (x *segments) lacks() bool {
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	return x.lacking
}

// repair indexes again what the published stack lacks. It is called until that has succeeded.
func (x *segments) repair() (more bool) {
	if x.repaired() {
		x.tried = 0
		return false
	}
	x.tried++
	select {
	case <-time.After(retryAfter << min(x.tried, mostDoubled)):
		return true
	case <-x.ctx.Done():
		return false
	}
}

// repaired tries it once, and reports whether nothing is lacking any more: one shard of the engine at a
// time.
func (x *segments) repaired() bool {
	began, s := time.Now(), x.shard
	select {
	case s.engine.repairing <- struct{}{}:
		defer func() { <-s.engine.repairing }()
	case <-x.ctx.Done():
		return false
	}
	if !x.lacks() {
		return true
	}
	indexed, err := x.again(x.ctx, true, nil)
	if errors.As(err, new(*segment.Damaged)) {
		err = x.mend(x.ctx)
	}
	switch {
	case x.ctx.Err() != nil:
	case err != nil:
		s.engine.options.Logger.Warn("store: indexing again failed, it is tried again", "shard", place(s.id), "cause", err)
	case !x.lacks():
		s.engine.options.Logger.Info("store: searches show what there is again", "shard", place(s.id), "indexed", indexed, "took", time.Since(began).Round(time.Millisecond))
		return true
	}
	return false
}

// counted says how much the estimate of the documents was too low, of which the stack was made. The
// shard's mutex is held. Nil has no stack.
func (x *segments) counted(more int64) error {
	if x == nil || x.stack == nil || !x.stack.rows.known || x.stack.rows.counted {
		return nil
	}
	st := x.stack
	for _, e := range st.entries {
		e.retain()
	}
	x.set(newStack(st.indexed, st.covers, st.lost, st.entries).of(rowCount{docs: st.rows.docs + more, known: true, counted: true}))
	return x.show()
}

// miscounted is what an entry of the stack shows another number of docs of than it says. The error is
// *segment.Damaged.
func (st *stack) miscounted() (wrong bool, err error) {
	for _, e := range st.entries {
		is := *e
		if err := is.count(); err != nil {
			return false, err
		}
		wrong = wrong || is.shown != e.shown || is.docs != e.docs
	}
	return wrong, nil
}

// counts are how often that has happened. Nil has none.
func (x *segments) counts() (r shard.Repairs) {
	if x == nil {
		return r
	}
	return shard.Repairs{Count: x.made[forCount].Load(), Damage: x.made[forDamage].Load(), Order: x.made[forOrder].Load()}
}
