package transfer_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/transfer"
)

// The laws of DESIGN.md §3 as a state of the model can break them.
const (
	answersRight  = "L1, L2, L4: a get shows what was acknowledged last, whatever placement it was routed by"
	keptSomewhere = "L1: what was acknowledged is in one of the shards"
	foundOnce     = "L3: a search shows a document at most once"
	foundAll      = "L3: a search shows what was refreshed before it began"
	notDeleted    = "L2, L3: a search does not show what was deleted and refreshed before it began"
	pointStays    = "L3: a point in time shows what it showed when it was opened"
	staysEqual    = "L9: where nothing is damaged nothing is found different"
	tidy          = "L5: in the end a shard has nothing that is not its own"
	hangs         = "L7: every request is answered, and every reshaping comes to its end"
)

// broken is the first law that w breaks.
func (m *model) broken(w *world) string {
	damaged := m.losePage || m.loseChange
	for d := range m.parts {
		if !m.kept(w, d) {
			return keptSomewhere
		}
		for v := range w.newest + 1 {
			at := &w.rings[v]
			answers, _ := m.admits(w, at.owner[d], at.epoch[d], d, m.bug[staleGets])
			if !m.loseChange && answers && max(0, w.servers[at.owner[d]].rows[d]) != max(0, w.truth[d]) {
				return answersRight
			}
		}
	}
	if w.work.stage == over && !w.tidy(m) {
		return tidy
	}
	gated := !m.bug[verifySkipped] && !m.bug[gateInClone] && !m.bug[openedEarly]
	if !damaged && gated && (w.work.stage == compared && w.work.unequal || w.work.stage >= handed && w.work.lost) {
		return staysEqual
	}
	for d := range m.parts {
		if w.point.open && w.pointShows(m, d) != w.point.was[d] {
			return pointStays
		}
	}
	for i := range w.routers {
		if law := w.routers[i].broken(m.parts); law != "" {
			return law
		}
	}
	return ""
}

// tidy tells whether nobody has rows of what is not its own.
func (w *world) tidy(m *model) bool {
	for s := range int8(shards) {
		if w.read>>s&1 == 0 && !w.clean(m, s) {
			return false
		}
	}
	return true
}

// kept tells whether the newest acknowledged row of d is somewhere, while it can be led
// back, and with its owner in the end.
func (m *model) kept(w *world, d int) bool {
	for s := range w.servers {
		if max(0, w.servers[s].rows[d]) == max(0, w.truth[d]) {
			return true
		}
	}
	return false
}

func (r *router) broken(n int) string {
	if r.doing != searching {
		return ""
	}
	for d := range n {
		switch {
		case r.got[d] > 1:
			return foundOnce
		case r.left == 0 && r.must>>d&1 == 1 && r.got[d] == 0:
			return foundAll
		case r.left == 0 && r.not>>d&1 == 1 && r.got[d] > 0:
			return notDeleted
		}
	}
	return ""
}

// The worlds: what is split or joined, and what clients do meanwhile.
var (
	writing  = model{parts: 2, shape: [parts]int8{0, 1}, joined: true, writes: 2, plans: 1}
	crashing = model{parts: 2, shape: [parts]int8{0, 1}, joined: true, writes: 1, plans: 1, crashes: 2}
	finding  = model{parts: 2, shape: [parts]int8{0, 1}, joined: true, writes: 2, searches: 1, plans: 1, wide: true}
	joining  = model{parts: 2, shape: [parts]int8{0, 1}, writes: 2, plans: 1}
	uniting  = model{parts: 2, shape: [parts]int8{0, 1}, writes: 1, searches: 1, plans: 1, crashes: 1}
	three    = model{parts: 3, shape: [parts]int8{0, 1, 2}, joined: true, writes: 1, searches: 1, plans: 1}
	twice    = model{parts: 2, shape: [parts]int8{0, 1}, joined: true, writes: 1, plans: 2}
	dying    = model{parts: 2, shape: [parts]int8{0, 1}, joined: true, writes: 2, plans: 1, crashes: 1, wide: true}
	pinning  = model{parts: 2, shape: [parts]int8{0, 1}, joined: true, writes: 1, plans: 1, points: 1}
	pinned   = model{parts: 2, shape: [parts]int8{0, 1}, writes: 1, plans: 1, points: 1}
	gather   = model{parts: 3, shape: [parts]int8{0, 1, 2}, writes: 1, plans: 1}
	again    = model{parts: 2, shape: [parts]int8{0, 1}, writes: 1, plans: 2, crashes: 1}
)

var wide = flag.Bool("wide", false, "visit the models of a million states, too")

func TestEveryStateOfTheModel(t *testing.T) {
	for name, m := range map[string]model{"writing": writing, "crashing": crashing, "finding": finding, "dying": dying, "joining": joining, "uniting": uniting, "three": three, "twice": twice, "again": again,
		"pinning": pinning, "pinned": pinned, "gather": gather} {
		t.Run(name, func(t *testing.T) {
			if m.wide && !*wide {
				t.Skip("it takes minutes: -wide")
			}
			v := newWalk(&m)
			if v.run(t); v.law != "" {
				t.Errorf("%s\nis broken by: %s", v.law, v.trail)
			}
			t.Logf("%d states, %d steps, %d placements", len(v.nodes), len(v.back), len(v.placements))
		})
	}
}

// TestEachBugBreaksALaw: with any one mistake in it the model breaks the law that is named;
// where the mistake is an edge that package transfer does not allow, it refuses it.
func TestEachBugBreaksALaw(t *testing.T) {
	page, change := writing, writing
	page.losePage, change.loseChange, page.writes, change.writes = true, true, 1, 1
	for _, c := range []struct {
		bugs    []bug
		in      model
		law     string
		refused transfer.Happening
	}{
		{[]bug{staleWrites}, writing, answersRight, ""},
		{[]bug{staleGets}, writing, answersRight, ""},
		{[]bug{staleSearches}, finding, foundAll, ""},
		{[]bug{staleRefresh}, finding, notDeleted, ""},
		{[]bug{epochKept}, finding, foundAll, ""},
		{[]bug{noSourceFilter}, finding, foundOnce, ""},
		{[]bug{noTargetFilter}, finding, foundOnce, ""},
		{[]bug{patched}, uniting, foundOnce, ""},
		{[]bug{unplanned}, uniting, foundOnce, ""},
		{[]bug{noFence}, writing, answersRight, ""},
		{[]bug{noDrain}, writing, answersRight, ""},
		{[]bug{openedEarly}, writing, answersRight, transfer.Opened},
		{[]bug{notRefreshed}, finding, notDeleted, ""},
		{[]bug{noTombstone}, writing, staysEqual, ""},
		{[]bug{noTombstone, verifySkipped}, writing, answersRight, transfer.WasHanded},
		{[]bug{pruned}, writing, staysEqual, ""},
		{[]bug{pruned, gateInClone}, writing, answersRight, transfer.WasHanded},
		{[]bug{verifySkipped}, page, answersRight, transfer.WasHanded},
		{[]bug{gateInClone}, page, answersRight, transfer.WasHanded},
		{[]bug{gateAtH}, change, keptSomewhere, transfer.Finish},
		{[]bug{earlyShed}, change, keptSomewhere, transfer.Retired},
		{[]bug{lateAbort}, writing, answersRight, transfer.Abort},
		{[]bug{second}, twice, answersRight, "begin"},
		{[]bug{blind}, writing, answersRight, ""},
		{[]bug{reverseDrops}, writing, answersRight, "flip back"},
		{[]bug{leftovers}, again, tidy, ""},
		{[]bug{pointMoved}, pinning, pointStays, ""},
		{[]bug{pointMoved}, pinned, pointStays, ""},
		{[]bug{forgottenUnder}, pinned, pointStays, ""},
		{[]bug{fenceLeft}, crashing, hangs, ""},
	} {
		name := make([]string, len(c.bugs))
		m := c.in
		m.bug = map[bug]bool{}
		for i, b := range c.bugs {
			m.bug[b], name[i] = true, string(b)
		}
		t.Run(strings.Join(name, ", and "), func(t *testing.T) {
			v := newWalk(&m)
			v.run(t)
			if v.law != c.law {
				t.Errorf("of %d states\n%q\nis broken by: %s\nwant %q", len(v.nodes), v.law, v.trail, c.law)
			}
			if c.refused != "" && !v.refused[c.refused] {
				t.Errorf("the code has refused only %v", v.refused)
			}
			t.Logf("%d states: %s", len(v.nodes), v.trail)
		})
	}
	// Damage alone breaks nothing that is acknowledged: the gates hold.
	for name, m := range map[string]model{"a lost page": page, "a lost change": change} {
		t.Run(name, func(t *testing.T) {
			v := newWalk(&m)
			if v.run(t); v.law != "" {
				t.Errorf("%s\nis broken by: %s", v.law, v.trail)
			}
		})
	}
}
