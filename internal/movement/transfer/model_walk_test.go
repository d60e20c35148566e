package transfer_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// node is a visited state: how it was reached, and the placement that package transfer has
// made of what it was told on that way.
type node struct {
	world  world
	from   int32
	name   string
	placed int32 // its place in walk.placements; -1 after the code has refused what a bug did
}

// most is a bound on the states of a model, so that none outgrows the machine.
const most = 3_000_000

// walk visits every state of a model.
type walk struct {
	m          *model
	nodes      []node
	known      map[world]int32
	back       [][2]int32 // edges, from and to
	placements []placement.Placement
	texts      map[string]int32
	advanced   map[told]int32
	checked    map[int32]reshaping
	refused    map[transfer.Happening]bool // what bugs did and the code has refused
	law        string                      // the first law that was broken, and how
	trail      string
}

// told is what of a step package transfer hears of, in the placement where it hears it.
type told struct {
	placed int32
	what   transfer.Happening
	shard  int8
	work   reshaping
}

func newWalk(m *model) *walk {
	v := &walk{m: m, known: map[world]int32{}, texts: map[string]int32{}, advanced: map[told]int32{}, checked: map[int32]reshaping{}, refused: map[transfer.Happening]bool{}}
	p := placement.Placement{Index: 7, Version: 1}
	first := m.first()
	for d := 0; d < m.parts; d++ {
		owner, from := first.rings[0].owner[d], d
		for d+1 < m.parts && first.rings[0].owner[d+1] == owner {
			d++
		}
		p.Shards = append(p.Shards, placement.Shard{Number: uint32(owner), Range: partsRange(m.parts, from, d), Epoch: 1, Term: 1, Node: placement.Local})
	}
	p.Next = uint32(first.next)
	v.reach(first, -1, "", v.keep(p))
	return v
}

func partsRange(n, from, to int) routing.Range {
	all := routing.Equal(n)
	return routing.Range{From: all[from].From, To: all[to].To}
}

func (v *walk) keep(p placement.Placement) int32 {
	text := string(p.Encode())
	if i, ok := v.texts[text]; ok {
		return i
	}
	v.placements = append(v.placements, p)
	v.texts[text] = int32(len(v.placements) - 1)
	return v.texts[text]
}

// reach takes a state in, unless it is known; routers are alike, so their order is none.
func (v *walk) reach(w world, from int32, name string, placed int32) int32 {
	if later(w.routers[0], w.routers[1]) {
		w.routers[0], w.routers[1] = w.routers[1], w.routers[0]
	}
	i, ok := v.known[w]
	if !ok {
		i = int32(len(v.nodes))
		v.known[w] = i
		v.nodes = append(v.nodes, node{w, from, name, placed})
		if law := v.m.broken(&w); law != "" {
			v.fails(law, i)
		}
	}
	if from >= 0 {
		v.back = append(v.back, [2]int32{from, i})
	}
	return i
}

func later(a, b router) bool {
	key := func(r router) []byte {
		return []byte{byte(r.sees), byte(r.doing), byte(r.doc), b2i(r.del), byte(r.at), r.left, b2i(r.replanned), byte(r.got[0]), byte(r.got[1]), byte(r.got[2]), r.must, r.not}
	}
	return bytes.Compare(key(a), key(b)) > 0
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (v *walk) fails(law string, at int32) {
	if v.law != "" {
		return
	}
	v.law = law
	var names []string
	for i := at; i > 0; i = v.nodes[i].from {
		names = append(names, v.nodes[i].name)
	}
	slices.Reverse(names)
	v.trail = strings.Join(names, ", ")
}

// run visits everything, or stops at the first law that is broken.
func (v *walk) run(t *testing.T) {
	for i := 0; i < len(v.nodes) && v.law == ""; i++ {
		n := v.nodes[i]
		if n.placed >= 0 && len(v.m.bug) == 0 {
			v.compare(t, n)
		}
		if len(v.nodes) > most {
			t.Fatalf("more than %d states", most)
		}
		for _, s := range v.m.steps(n.world) {
			placed := n.placed
			if placed >= 0 && (s.told != "") {
				placed = v.tell(t, n, s)
			}
			v.reach(s.world, int32(i), s.name, placed)
		}
	}
	if v.law == "" && len(v.m.bug) <= 1 && !v.m.losePage && !v.m.loseChange {
		v.ends()
	}
}

// event is what package transfer hears of a step.
func (w *world) event(h transfer.Happening, shard int8, r transfer.Record) transfer.Event {
	e := transfer.Event{Happened: h, Shard: uint32(shard)}
	switch h {
	case transfer.Verified:
		e.Run, e.Differences = r.Groups[0].Cloned.Run+1, int64(b2i(w.work.unequal))
	case transfer.VerifiedAtH:
		e.Run, e.Differences = r.Groups[0].AtH.Run+1, int64(b2i(w.work.lost))
	}
	for _, s := range r.Groups[0].Sources {
		p := transfer.Position{Shard: s.Shard, Term: s.Before.Term}
		switch n := int8(s.Shard); h {
		case transfer.WasCloned:
			p.SeqNo = int64(w.work.s[n])
		case transfer.Verified:
			p.SeqNo = int64(w.work.v)
		case transfer.Opened:
			p.SeqNo = int64(w.work.h)
			if w.ahead(n) > 0 {
				p.SeqNo = int64(w.work.follows[n])
			}
		default:
			p.SeqNo = int64(w.work.h)
		}
		e.At = append(e.At, p)
	}
	return e
}

// tell tells package transfer what a step was. It has to accept it: what it refuses can only
// be what a bug did, and is remembered.
func (v *walk) tell(t *testing.T, n node, s step) int32 {
	key := told{n.placed, s.told, s.shard, s.world.work}
	if placed, ok := v.advanced[key]; ok {
		return placed
	}
	before := v.placements[n.placed]
	after, err := v.advance(t, before, n, s)
	if err == nil && after.Version == before.Version {
		t.Fatalf("%s changes nothing in\n%s", s.name, before)
	}
	if err != nil && len(v.m.bug) == 0 {
		t.Fatalf("package transfer refuses to %s: %v", s.name, err)
	}
	v.advanced[key] = -1
	if err != nil {
		v.refused[s.told] = true
	} else {
		v.advanced[key] = v.keep(after)
	}
	return v.advanced[key]
}

func (v *walk) advance(t *testing.T, p placement.Placement, n node, s step) (placement.Placement, error) {
	movement := fmt.Sprint("m", n.world.plans)
	switch s.told {
	case "begin":
		return transfer.Begin(p, v.plan(p, &s.world), transfer.Asked{Movement: fmt.Sprint("m", s.world.plans), Name: "books", Change: change})
	case "clear":
		return transfer.Clear(p, movement, change)
	}
	w := s.world
	if s.told == transfer.Reverse || s.told == transfer.Abort {
		w = n.world
	}
	after, _, err := transfer.Advance(p, movement, w.event(s.told, s.shard, record(t, p)), change)
	return after, err
}

// plan is the plan of the reshaping that w has just begun in p.
func (v *walk) plan(p placement.Placement, w *world) placement.Plan {
	g := placement.Group{From: p.Shards}
	for d := 0; d < v.m.parts; d++ {
		from := d
		for d+1 < v.m.parts && w.work.to[d+1] == w.work.to[d] {
			d++
		}
		g.To = append(g.To, placement.Part{Range: partsRange(v.m.parts, from, d)})
	}
	return placement.Plan{Groups: []placement.Group{g}}
}

// compare holds a state against the placement that package transfer has made on the way to
// it: who owns what is the same, and what the model forbids there is refused.
func (v *walk) compare(t *testing.T, n node) {
	p, w := v.placements[n.placed], &n.world
	for d := range v.m.parts {
		if owner := p.Owner(partsRange(v.m.parts, d, d).From); owner.Number != uint32(w.rings[w.newest].owner[d]) {
			t.Fatalf("part %d belongs to %d in the model, and to\n%s", d, w.rings[w.newest].owner[d], p)
		}
	}
	v.answers(t, w)
	if _, ok := v.checked[n.placed]; ok {
		return
	}
	v.checked[n.placed] = w.work
	r, found, err := transfer.Of(p)
	if err != nil || found != (w.work.stage != none) {
		t.Fatalf("a record is there: %v, %v, and the model is at stage %d", found, err, w.work.stage)
	}
	if !found {
		return
	}
	if r.Kind != w.work.kind {
		t.Fatalf("it is a %s, and a %s in the model", r.Kind, w.work.kind)
	}
	for _, h := range transfer.Happenings {
		for shard := range int8(shards) {
			told := *w
			told.work.unequal, told.work.lost = false, false
			if told.work.stage < compared {
				told.work.v = told.writes
			}
			if told.work.stage < handed {
				told.work.h = told.writes
			}
			e := told.event(h, shard, r)
			if h == transfer.WasCloned && w.work.stage == begun {
				for i := range e.At {
					e.At[i].SeqNo = int64(w.writes)
				}
			}
			after, _, err := transfer.Advance(p, r.Movement, e, change)
			if changed := err == nil && after.Version != p.Version; changed != w.work.permits(h, shard) {
				t.Fatalf("%s: the code goes on: %v (%v), and the model: %v, in\n%s%s", e, changed, err, !changed, r, p)
			}
		}
	}
}

// answers holds a state against the table of who answers.
func (v *walk) answers(t *testing.T, w *world) {
	if w.work.stage == none || w.work.stage > over {
		return
	}
	for d := range v.m.parts {
		source, target := w.rings[w.before()].owner[d], w.work.to[d]
		if !w.moved(d) {
			continue
		}
		state := transfer.InSplit
		switch {
		case w.work.stage < handed:
			state = transfer.Clone
		case w.work.opened>>target&1 == 0:
			state = transfer.Handoff
		case w.work.shed>>target&1 == 1:
			state = transfer.Done
		}
		for _, o := range []transfer.Operation{transfer.Write, transfer.Get, transfer.Search, transfer.Refresh} {
			a := transfer.WhoAnswers(state, o)
			if want := map[transfer.Role]int8{transfer.TheSource: source, transfer.TheTarget: target}[a.By]; w.rings[w.newest].owner[d] != want {
				t.Fatalf("%s in %s is answered by shard %d, and by the table by %d", o, state, w.rings[w.newest].owner[d], want)
			}
			if w.servers[w.rings[w.newest].owner[d]].closed && !a.Waits && !w.work.kind.Back() {
				t.Fatalf("%s in %s waits, and does not in the table", o, state)
			}
			holdsMore := state != transfer.Clone && w.servers[source].rows[d] != 0
			if holdsMore && a.Source == transfer.NoFilter {
				t.Fatalf("%s in %s: the source holds what is the target's, and shows all", o, state)
			}
			if w.servers[target].rows[d] != 0 && state == transfer.Done && a.Target == transfer.NoFilter && !w.clean(v.m, target) {
				t.Fatalf("%s in %s: the target holds what is not its own, and shows all", o, state)
			}
		}
	}
}

// clean tells whether shard s has no rows but its own.
func (w *world) clean(m *model, s int8) bool {
	for d := range m.parts {
		if w.servers[s].rows[d] != 0 && w.rings[w.newest].owner[d] != s {
			return false
		}
	}
	return true
}

// permits tells whether the model knows the edge, whatever else a runner has to wait for.
func (r *reshaping) permits(h transfer.Happening, shard int8) bool {
	in := func(stages ...stage) bool { return slices.Contains(stages, r.stage) }
	switch h {
	case transfer.WasCloned:
		return in(begun)
	case transfer.Verified: // again, too: what was found is mended
		return in(cloned, compared)
	case transfer.WasHanded:
		return in(compared) && !r.unequal
	case transfer.Opened:
		return in(handed) && r.targets&^r.opened>>shard&1 == 1
	case transfer.VerifiedAtH:
		return in(open, comparedAtH)
	case transfer.Finish:
		return in(comparedAtH) && !r.lost
	case transfer.WasShed:
		return in(finishing) && r.targets&^r.shed>>shard&1 == 1
	case transfer.Retired:
		return in(finishing) && r.shed == r.targets && (r.sources|r.left)&^r.retired>>shard&1 == 1
	case transfer.WasDropped:
		return in(dropping)
	case transfer.Abort:
		return in(begun, cloned, compared) && !r.kind.Back()
	case transfer.Reverse:
		return in(handed, open, comparedAtH) && !r.kind.Back()
	}
	return false
}

// ends: from every state all requests can be answered and all reshapings come to their end.
func (v *walk) ends() {
	into := make([][]int32, len(v.nodes))
	for _, edge := range v.back {
		into[edge[1]] = append(into[edge[1]], edge[0])
	}
	ends := make([]bool, len(v.nodes))
	var queue []int32
	for i := range v.nodes {
		w := &v.nodes[i].world
		if w.work.stage == none && w.routers[0].doing == idle && w.routers[1].doing == idle {
			ends[i] = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range into[i] {
			if !ends[j] {
				ends[j] = true
				queue = append(queue, j)
			}
		}
	}
	if i := slices.Index(ends, false); i >= 0 {
		v.fails(hangs, int32(i))
	}
}
