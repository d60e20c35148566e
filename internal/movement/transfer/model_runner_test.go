package transfer_test

import (
	"math/bits"

	"github.com/reshelve/reshelve/internal/movement/transfer"
)

// bug is a mistake that somebody made once, or that the protocol is there to prevent.
type bug string

const (
	staleWrites    bug = "a shard takes writes that quote an old epoch"
	staleSearches  bug = "a shard answers searches that quote an old epoch"
	staleGets      bug = "a shard answers gets that quote an old epoch"
	staleRefresh   bug = "a refresh is acknowledged before all routers know"
	epochKept      bug = "the source keeps its epoch"
	noSourceFilter bug = "the source still shows what is the target's"
	noTargetFilter bug = "the target shows what it was cloned with"
	patched        bug = "a stale part of a search is asked of the new owner, who answers with all"
	unplanned      bug = "a search goes on by a newer placement than the one it was planned by"
	noFence        bug = "no fence"
	noDrain        bug = "H is read before admitted writes are applied"
	openedEarly    bug = "the target opens before it has all up to H"
	notRefreshed   bug = "the target is not refreshed through H"
	noTombstone    bug = "a delete of what was not copied yet leaves no tombstone in the clone"
	pruned         bug = "tombstones are pruned in the clone"
	verifySkipped  bug = "nothing is compared before the hand-off"
	gateInClone    bug = "differences in CLONE do not forbid the hand-off"
	gateAtH        bug = "differences at H do not forbid finish"
	lateAbort      bug = "abort after the hand-off"
	second         bug = "a second reshaping during cleanup"
	blind          bug = "a shard is released before the outcome of the compare-and-set is known"
	reverseDrops   bug = "reverse gives the source back what it had"
	earlyShed      bug = "the source sheds before finish"
	fenceLeft      bug = "an abort leaves the fence"
	pointMoved     bug = "a point in time is asked of the new owner"
	forgottenUnder bug = "what owns nothing is forgotten while a point in time reads it"
	leftovers      bug = "what vanished in a merge that is led back is not retired"
)

func (m *model) runner(w world) (steps []step) {
	add := func(name string, told transfer.Happening, change func(w *world)) {
		next := w
		change(&next)
		steps = append(steps, step{name: name, world: next, told: told})
	}
	for s := range shards {
		if w.late[s] != 0 {
			add("late retire", "", func(w *world) { w.forget(s, w.late[s]); w.late[s] = 0 })
		}
	}
	r := &w.work
	switch r.stage {
	case none:
		return append(steps, m.plan1(w)...)
	case begun, cloned, compared:
		m.clone(w, add)
		m.try(w, add)
		if !r.kind.Back() {
			add("abort", transfer.Abort, func(w *world) { w.work.stage = dropping })
		}
	case handed:
		for s := range shards {
			switch sh := &w.servers[s]; {
			case r.targets>>s&1 == 1 && r.opened>>s&1 == 0:
				add("open", transfer.Opened, func(w *world) {
					w.take(int8(s), m)
					w.work.opened |= 1 << s
					if w.work.opened == w.work.targets {
						w.work.stage = open
					}
				})
				steps[len(steps)-1].shard = int8(s)
			case r.targets>>s&1 == 0 && sh.fenced:
				add("take", "", func(w *world) { w.take(int8(s), m) })
			}
		}
		m.back(w, add)
	case open:
		for s := range shards {
			if r.targets>>s&1 == 0 && w.servers[s].fenced {
				add("take", "", func(w *world) { w.take(int8(s), m) })
			}
		}
		add("verify at H", transfer.VerifiedAtH, func(w *world) { w.work.stage = comparedAtH })
		m.back(w, add)
	case comparedAtH:
		if !r.lost || m.bug[gateAtH] {
			add("finish", transfer.Finish, func(w *world) { w.work.stage = finishing })
		}
		m.back(w, add)
	case finishing:
		steps = append(steps, m.cleanup(w)...)
	case dropping:
		add("drop", transfer.WasDropped, func(w *world) {
			w.work.stage = dropped
			for s := range shards {
				w.servers[s].fenced = w.servers[s].fenced && m.bug[fenceLeft]
			}
		})
	case over, dropped:
		add("clear", "clear", func(w *world) { w.work = reshaping{} })
	}
	if m.bug[earlyShed] && (r.stage == open || r.stage == comparedAtH) {
		add("retire", transfer.Retired, func(w *world) { w.forgetMoved(m) })
	}
	return steps
}

// plan1 begins a reshaping: one shard is split, several are joined.
func (m *model) plan1(w world) []step {
	if w.plans >= m.plans {
		return nil
	}
	next := w
	next.start(m, m.turned(&w))
	return []step{{name: "begin", world: next, told: "begin"}}
}

// turned is the opposite of what the newest ring is, with new numbers for new shards.
func (m *model) turned(w *world) (to [parts]int8) {
	now := w.rings[w.newest].owner
	for d := range m.parts {
		to[d] = now[0]
		if now[m.parts-1] == now[0] && m.shape[d] > 0 { // it is one shard
			to[d] = w.next + m.shape[d] - 1
		}
	}
	return to
}

func (w *world) start(m *model, to [parts]int8) {
	r := reshaping{kind: transfer.Split, stage: begun, to: to}
	now := w.rings[w.newest].owner
	for d := range m.parts {
		r.sources |= 1 << now[d]
	}
	if bits.OnesCount8(r.sources) > 1 {
		r.kind = transfer.Merge
	}
	w.work = r
	w.plans++
	for d := range m.parts {
		if r.kind == transfer.Merge || w.moved(d) {
			w.work.targets |= 1 << to[d]
		}
		w.next = max(w.next, to[d]+1)
	}
	for s := range shards {
		w.work.follows[s] = w.writes
	}
}

// clone copies pages and follows changes, in any order.
func (m *model) clone(w world, add func(string, transfer.Happening, func(*world))) {
	r := &w.work
	there := true
	for d := range m.parts {
		if !w.moved(d) {
			continue
		}
		source := w.rings[w.newest].owner[d]
		there = there && r.page[d] == 2
		switch r.page[d] {
		case 0:
			add("read page", "", func(w *world) { w.work.page[d], w.work.buffer[d] = 1, w.servers[source].rows[d] })
		case 1:
			add("put page", "", func(w *world) { w.put(d, w.work.buffer[d]); w.work.page[d], w.work.buffer[d] = 2, 0 })
			if m.losePage && w.faults == 0 {
				add("lose page", "", func(w *world) { w.work.page[d], w.work.buffer[d] = 2, 0; w.faults++ })
			}
		}
		if m.bug[pruned] && r.rows[d] < 0 {
			add("prune", "", func(w *world) { w.work.rows[d] = 0 })
		}
	}
	for s := range int8(shards) {
		if n := w.ahead(s); n > 0 && r.sources>>s&1 == 1 {
			m.follow(w, s, n, add)
		}
	}
	if r.stage == begun && there {
		add("cloned", transfer.WasCloned, func(w *world) { w.work.stage, w.work.s = cloned, w.work.follows })
	}
	if r.stage == cloned && w.caughtUp() {
		add("verify", transfer.Verified, func(w *world) {
			w.work.stage, w.work.v, w.work.unequal = compared, w.writes, w.differs(m)
		})
	}
}

// put puts a row into a target, where no newer one is.
func (w *world) put(d int, row int8) {
	if size(row) > size(w.work.rows[d]) {
		w.work.rows[d] = row
	}
}

func size(row int8) int8 { return max(row, -row) }

// ahead is the next change of source s that the targets do not have; 0 for none.
func (w *world) ahead(s int8) int8 {
	for n := w.work.follows[s] + 1; n <= w.writes; n++ {
		if w.log[n-2].shard == s+1 {
			return n
		}
	}
	return 0
}

func (m *model) follow(w world, s, n int8, add func(string, transfer.Happening, func(*world))) {
	d, row := int(w.log[n-2].doc), n
	if d < 0 {
		d, row = ^d, -n
	}
	forget := m.bug[noTombstone] && row < 0 && w.work.rows[d] == 0
	add("follow", "", func(w *world) {
		w.work.follows[s] = n
		if w.moved(d) && !forget {
			w.put(d, row)
		}
	})
	if m.loseChange && w.faults == 0 && w.moved(d) && w.work.stage == compared {
		add("lose change", "", func(w *world) { w.work.follows[s] = n; w.faults++ })
	}
}

func (w *world) caughtUp() bool {
	for s := range int8(shards) {
		if w.work.sources>>s&1 == 1 && w.ahead(s) > 0 {
			return false
		}
	}
	return true
}

// differs compares what the targets have with the sources, deleted and absent being alike.
func (w *world) differs(m *model) bool {
	for d := range m.parts {
		if w.moved(d) && max(0, w.work.rows[d]) != max(0, w.servers[w.rings[w.newest].owner[d]].rows[d]) {
			return true
		}
	}
	return false
}

// try is a hand-off: fence, drain, follow, flip; or release, and nothing has been.
func (m *model) try(w world, add func(string, transfer.Happening, func(*world))) {
	r := &w.work
	fenced := false
	for s := range shards {
		fenced = fenced || r.sources>>s&1 == 1 && w.servers[s].fenced
	}
	ready := r.stage == compared && (!r.unequal || m.bug[gateInClone]) || r.stage == cloned && m.bug[verifySkipped]
	switch {
	case !ready && !fenced:
		return
	case !fenced && !m.bug[noFence]:
		add("fence", "", func(w *world) { w.fence() })
		return
	case fenced:
		add("release", "", func(w *world) {
			for s := range shards {
				w.servers[s].fenced = false
			}
		})
	}
	drained := true
	for i := range w.routers {
		drained = drained && (w.routers[i].doing != admitted || r.sources>>w.routers[i].at&1 == 0)
	}
	if ready && (drained || m.bug[noDrain] || m.bug[noFence]) && (w.caughtUp() || m.bug[openedEarly]) {
		add("hand off", transfer.WasHanded, func(w *world) { w.flip(m) })
	}
}

func (w *world) fence() {
	for s := range shards {
		if w.work.sources>>s&1 == 1 {
			w.servers[s].fenced = true
		}
	}
}

// flip is the compare-and-set.
func (w *world) flip(m *model) {
	r := &w.work
	r.lost, r.h = w.differs(m), w.writes
	old := w.rings[w.newest]
	w.newest++
	now := &w.rings[w.newest]
	*now = old
	for d := range m.parts {
		if r.sources>>old.owner[d]&1 == 1 {
			now.owner[d], now.epoch[d] = r.to[d], w.newest+1
		}
		if m.bug[epochKept] && now.owner[d] == old.owner[d] {
			now.epoch[d] = old.epoch[d]
		}
	}
	r.stage = handed
	w.fence()
	for d := range m.parts {
		from, to := old.owner[d], now.owner[d]
		if r.sources>>from&1 == 0 || from == to {
			continue
		}
		target := &w.servers[to]
		if r.kind == transfer.Split || r.kind == transfer.MergeBack { // a new shard, by files of its source
			target.closed = true
			for e := range m.parts {
				if old.owner[e] == from && !w.isMovedTo(e, to) {
					target.rows[e], target.shown[e] = w.servers[from].rows[e], w.servers[from].shown[e]
				}
			}
		}
		target.rows[d], target.shown[d] = r.rows[d], r.rows[d]
		if m.bug[notRefreshed] {
			target.shown[d] = 1
		}
	}
	if m.bug[blind] {
		for s := range shards {
			w.servers[s].fenced = false
		}
	}
}

func (w *world) isMovedTo(d int, to int8) bool { return w.moved(d) && w.work.to[d] == to }

// back are the ways back after the hand-off.
func (m *model) back(w world, add func(string, transfer.Happening, func(*world))) {
	if m.bug[lateAbort] {
		add("late abort", transfer.Abort, func(w *world) { w.giveBack(m) })
	}
	if w.work.kind.Back() || int(w.newest) >= len(w.rings)-2 {
		return
	}
	if m.bug[reverseDrops] {
		add("reverse, dropping", "flip back", func(w *world) { w.giveBack(m) })
		return
	}
	add("reverse", transfer.Reverse, func(w *world) { w.reverse(m) })
}

// giveBack flips to what was before, with the rows of before.
func (w *world) giveBack(m *model) {
	w.newest++
	w.rings[w.newest] = w.rings[w.newest-2]
	for d := range m.parts {
		w.rings[w.newest].epoch[d] = w.newest + 1
	}
	for s := range int8(shards) {
		w.take(s, m)
	}
	w.work = reshaping{}
	w.plans = m.plans
}

// reverse begins the opposite: every shard takes the placement of the hand-off first.
func (w *world) reverse(m *model) {
	old := w.work
	to := w.rings[w.newest-1].owner
	for s := range int8(shards) {
		if (old.sources|old.targets)>>s&1 == 1 && !w.servers[s].closed { // what is closed stays so
			w.take(s, m)
		}
	}
	kind := transfer.SplitBack
	if old.kind == transfer.Merge {
		kind, to = transfer.MergeBack, m.turned(w)
	}
	w.work = reshaping{}
	w.start(m, to)
	w.plans--
	w.work.kind = kind
	for d := range m.parts {
		if kind == transfer.SplitBack && w.moved(d) { // what the old owner still has is older, or what was lost
			w.work.rows[d] = w.servers[to[d]].rows[d]
		}
	}
	if kind == transfer.MergeBack && !m.bug[leftovers] {
		w.work.left = old.sources &^ w.work.sources
	}
}

// cleanup sheds and retires.
func (m *model) cleanup(w world) (steps []step) {
	add := func(name string, told transfer.Happening, s int, change func(w *world)) {
		next := w
		change(&next)
		steps = append(steps, step{name: name, world: next, told: told, shard: int8(s)})
	}
	r := &w.work
	for s := range shards {
		if r.targets&^r.shed>>s&1 == 1 {
			add("shed", transfer.WasShed, s, func(w *world) {
				w.forget(s, ^w.servers[s].owns)
				w.work.shed |= 1 << s
			})
		}
		if r.shed == r.targets && (r.sources|r.left)&^r.retired>>s&1 == 1 && !w.servers[s].fenced {
			add("retire", transfer.Retired, s, func(w *world) {
				if m.forgettable(w, int8(s)) {
					w.forget(s, ^w.servers[s].owns)
					w.unpin(m, int8(s))
				} else { // what closes it forgets it
					w.read |= 1 << s
				}
				if w.work.retired |= 1 << s; w.work.retired == w.work.sources|w.work.left {
					w.work.stage = over
				}
			})
		}
	}
	for s := range shards {
		if w.servers[s].fenced {
			add("take", "", s, func(w *world) { w.take(int8(s), m) })
		}
	}
	if m.bug[second] && w.plans < m.plans && r.shed == r.targets {
		next := w
		for s := range shards {
			if r.sources&^r.retired>>s&1 == 1 {
				next.late[s] = ^next.servers[s].owns
			}
		}
		next.work = reshaping{}
		next.start(m, m.turned(&next))
		steps = append(steps, step{name: "begin", world: next, told: "begin"})
	}
	return steps
}

// forgettable tells whether nobody reads of shard s what it will not have any more: a shard that
// goes on keeps what its readers show.
func (m *model) forgettable(w *world, s int8) bool {
	return w.servers[s].owns != 0 || !w.reads(m, s) || m.bug[forgottenUnder]
}

// unpin takes from the point in time what it reads of a shard that is forgotten.
func (w *world) unpin(m *model, s int8) {
	for d := range m.parts {
		if w.point.open && w.point.from[d] == s && w.servers[s].owns == 0 {
			w.point.rows[d] = 0
		}
	}
}

// forget removes rows of the parts from shard s.
func (w *world) forget(s int, which uint8) {
	for d := range parts {
		if which>>d&1 == 1 {
			w.servers[s].rows[d], w.servers[s].shown[d] = 0, 0
		}
	}
}

func (w *world) forgetMoved(m *model) {
	for d := range m.parts {
		if w.moved(d) {
			w.forget(int(w.rings[w.before()].owner[d]), 1<<d)
		}
	}
}
