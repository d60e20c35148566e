package transfer_test

import (
	"math/bits"

	"github.com/reshelve/reshelve/internal/movement/transfer"
)

// A small world around one index, of which every state is visited: shards with rows, a
// runner that reshapes, two routers that keep what placement they like, clients that
// write, delete, get, search and refresh, and crashes. It knows nothing of package
// transfer's code; model_walk_test.go tells that code what happens here, and compares.
//
// A document is a part of the ring. A row is the number of the write that made it, negative
// for a tombstone; 0 is none. What is not said to be atomic here is taken apart: a write is
// sent, admitted and applied; a page is read from a source and put into a target; changes
// are followed one by one; a search asks shard by shard; a hand-off fences, follows, flips,
// and each shard takes the new placement by itself.

const (
	parts   = 3
	shards  = 5
	routers = 2
	numbers = 6 // writes, and the one that all documents are of
)

type ring struct{ owner, epoch [parts]int8 }

type server struct {
	rows, shown [parts]int8 // the truth, and what the newest reader shows
	epoch       int8        // 0: it owns nothing
	owns        uint8
	fenced      bool
	closed      bool // a target that does not answer yet
}

type router struct {
	sees      int8 // the placement that it knows
	doing     job
	doc       int8
	del       bool
	at        int8  // the shard that has admitted its write
	left      uint8 // of a search: the parts that are not answered
	replanned bool
	got       [parts]int8
	must, not uint8 // documents that have to be found, or must not be
}

type job int8

const (
	idle job = iota
	sent
	admitted
	searching
)

type change2 struct{ shard, doc int8 }

// point is a point in time: it reads what the shards showed when it was opened.
type point struct {
	open bool
	from [parts]int8 // the shard that shows each part
	was  [parts]int8 // the rows that it showed at first
	rows [parts]int8 // and shows now
}

// world is one state. It can be compared, and is a key.
type world struct {
	rings    [5]ring
	newest   int8
	servers  [shards]server
	log      [numbers]change2
	writes   int8
	truth    [parts]int8
	seen     [parts]int8 // what a search that begins now has to show, or newer
	deleted  uint8       // parts that were deleted after that, if put again or not
	routers  [routers]router
	searches int8
	crashes  int8
	faults   int8
	next     int8 // the number of the next new shard
	plans    int8 // reshapings that were begun
	work     reshaping
	late     [shards]uint8 // what an old runner will still retire: a bug
	point    point
	points   int8
	read     uint8 // shards that were retired while the point in time reads them
}

// stage is how far the group is.
type stage int8

const (
	none stage = iota
	begun
	cloned
	compared
	handed
	open
	comparedAtH
	finishing
	over
	dropping
	dropped
)

type reshaping struct {
	kind    transfer.Kind
	stage   stage
	sources uint8
	targets uint8
	to      [parts]int8 // who owns each part afterwards
	page    [parts]int8 // of a moved part: 0 to be read, 1 read, 2 there
	buffer  [parts]int8
	rows    [parts]int8 // what the targets have of the moved parts
	follows [shards]int8
	s       [shards]int8
	v, h    int8
	unequal bool // the newest comparison in CLONE found differences
	lost    bool // at H target and source differ
	opened  uint8
	shed    uint8
	retired uint8
	left    uint8 // sources of a merge that is led back
}

// moved tells whether part d goes to another shard.
func (w *world) moved(d int) bool {
	return w.work.stage != none && w.work.sources>>w.rings[w.before()].owner[d]&1 == 1 && w.work.to[d] != w.rings[w.before()].owner[d]
}

// before is the ring that the hand-off changes, or has changed.
func (w *world) before() int8 {
	if w.work.stage >= handed && w.work.stage <= over {
		return w.newest - 1
	}
	return w.newest
}

// step is one thing that happens; told is what the transfer package hears of it.
type step struct {
	name  string
	world world
	told  transfer.Happening
	shard int8
}

// model is a world with its bounds and its bugs.
type model struct {
	parts      int
	shape      [parts]int8 // which parts are one shard when the index is split, from 0 on
	joined     bool        // it begins as one shard, and is split; else it begins split
	writes     int8
	searches   int8
	crashes    int8
	plans      int8
	points     int8
	losePage   bool // one page may come to a target without its row
	loseChange bool // one change that comes after the comparison may be lost
	wide       bool // it takes minutes to visit
	bug        map[bug]bool
}

func (m *model) first() world {
	w := world{newest: 0, writes: 1}
	for d := range m.parts {
		owner := m.shape[d]
		if m.joined {
			owner = 0
		}
		w.rings[0].owner[d], w.rings[0].epoch[d] = owner, 1
		s := &w.servers[owner]
		s.epoch, s.owns = 1, s.owns|1<<d
		s.rows[d], s.shown[d], w.truth[d], w.seen[d] = 1, 1, 1, 1
		w.next = max(w.next, owner+1)
	}
	return w
}

// steps are all that can happen in w.
func (m *model) steps(w world) (steps []step) {
	add := func(name string, change func(w *world)) {
		next := w
		change(&next)
		steps = append(steps, step{name: name, world: next})
	}
	for i := range routers {
		m.client(&w, i, add)
	}
	if w.crashes < m.crashes {
		add("crash", m.crash)
	}
	if w.point.open {
		add("close point", func(w *world) {
			w.point = point{}
			for s := range shards {
				if w.read>>s&1 == 1 {
					w.forget(s, ^w.servers[s].owns)
				}
			}
			w.read = 0
		})
	}
	return append(steps, m.runner(w)...)
}

// admits tells whether shard s answers a request for part d that quotes epoch, waits, or
// says that it is stale.
func (m *model) admits(w *world, s int8, epoch int8, d int, evenStale bool) (answers, stale bool) {
	sh := &w.servers[s]
	if sh.closed || sh.fenced {
		return false, false
	}
	if sh.epoch != epoch || sh.owns>>d&1 == 0 {
		return evenStale, !evenStale
	}
	return true, false
}

func (m *model) client(w *world, i int, add func(string, func(*world))) {
	r := &w.routers[i]
	at := &w.rings[r.sees]
	// A search keeps the placement that it was planned by.
	if r.sees < w.newest && r.doing != admitted && (r.doing != searching || m.bug[unplanned]) {
		add("reload", func(w *world) { w.routers[i].sees = w.newest })
	}
	switch r.doing {
	case idle:
		for d := range m.parts {
			if w.writes+w.underway() <= m.writes {
				add("send put", func(w *world) { w.routers[i].doing, w.routers[i].doc, w.routers[i].del = sent, int8(d), false })
				add("send delete", func(w *world) { w.routers[i].doing, w.routers[i].doc, w.routers[i].del = sent, int8(d), true })
			}
		}
		if w.searches < m.searches {
			add("search", func(w *world) { w.search(i, m.parts) })
		}
		if w.seen != w.truth {
			m.refresh(w, i, add)
		}
		if w.points < m.points {
			m.open(w, i, add)
		}
	case sent:
		owner, epoch := at.owner[r.doc], at.epoch[r.doc]
		answers, stale := m.admits(w, owner, epoch, int(r.doc), m.bug[staleWrites])
		if stale && r.sees < w.newest {
			add("stale write", func(w *world) { w.routers[i].sees = w.newest })
		}
		if answers {
			add("admit", func(w *world) { w.routers[i].doing, w.routers[i].at = admitted, owner })
		}
	case admitted:
		add("apply", func(w *world) { w.apply(i) })
	case searching:
		m.ask(w, i, add)
	}
}

// underway are the writes that are sent and not applied.
func (w *world) underway() (n int8) {
	for i := range w.routers {
		if w.routers[i].doing == sent || w.routers[i].doing == admitted {
			n++
		}
	}
	return n
}

// apply carries out the write that a shard has admitted for router i, and acknowledges it.
func (w *world) apply(i int) {
	r := &w.routers[i]
	w.writes++
	row := w.writes
	if r.del {
		row = -row
	}
	w.servers[r.at].rows[r.doc], w.truth[r.doc] = row, row
	w.log[w.writes-2] = change2{shard: r.at + 1, doc: r.doc}
	if r.del {
		w.log[w.writes-2].doc = ^r.doc
	}
	for j := range w.routers { // searches that go on may find it or not
		if r.del {
			w.routers[j].must &^= 1 << r.doc
			w.deleted |= 1 << r.doc
		} else {
			w.routers[j].not &^= 1 << r.doc
		}
	}
	*r = router{sees: r.sees}
}

func (w *world) search(i, n int) {
	r := &w.routers[i]
	w.searches++
	*r = router{sees: r.sees, doing: searching, left: 1<<n - 1}
	for d := range n {
		if w.seen[d] > 0 && w.deleted>>d&1 == 0 {
			r.must |= 1 << d
		}
		if w.seen[d] <= 0 && w.truth[d] == w.seen[d] {
			r.not |= 1 << d
		}
	}
}

// ask asks the owner of the first part that is not answered, for all that it owns by the
// router's placement. One that is stale is planned again for its range.
func (m *model) ask(w *world, i int, add func(string, func(*world))) {
	r := &w.routers[i]
	if r.left == 0 {
		add("answer", func(w *world) { w.routers[i] = router{sees: r.sees} })
		return
	}
	at := &w.rings[r.sees]
	first := bits.TrailingZeros8(r.left)
	owner, asked := at.owner[first], uint8(0)
	for d := range m.parts {
		if at.owner[d] == owner {
			asked |= 1 << d & r.left
		}
	}
	sh := &w.servers[owner]
	fits := sh.epoch == at.epoch[first] || m.bug[staleSearches]
	switch {
	case sh.closed || sh.fenced:
	case !fits && r.sees < w.newest:
		add("stale search", func(w *world) { w.routers[i].sees, w.routers[i].replanned = w.newest, true })
	case fits:
		add("ask", func(w *world) {
			r := &w.routers[i]
			for d := range m.parts {
				if sh.shown[d] > 0 && m.shows(w, owner, d) && (!r.replanned || m.bug[patched] || asked>>d&1 == 1) {
					r.got[d]++
				}
			}
			r.left &^= asked
		})
	}
}

// shows tells whether shard s filters part d out: it shows no more than its own range.
func (m *model) shows(w *world, s int8, d int) bool {
	if w.servers[s].owns>>d&1 == 1 {
		return true
	}
	if w.work.targets>>s&1 == 1 {
		return m.bug[noTargetFilter]
	}
	return m.bug[noSourceFilter]
}

// refresh is acknowledged when every shard that router i knows of has published.
func (m *model) refresh(w *world, i int, add func(string, func(*world))) {
	at := &w.rings[w.routers[i].sees]
	for d := range m.parts {
		sh := &w.servers[at.owner[d]]
		switch {
		case sh.closed || sh.fenced:
			return
		case sh.epoch != at.epoch[d] && !m.bug[staleRefresh]:
			return // stale: reload
		}
	}
	add("refresh", func(w *world) {
		for d := range m.parts {
			sh := &w.servers[at.owner[d]]
			sh.shown = sh.rows
		}
		w.seen, w.deleted = w.truth, 0
	})
}

// open opens a point in time where every shard that router i knows of answers.
func (m *model) open(w *world, i int, add func(string, func(*world))) {
	at := w.rings[w.routers[i].sees]
	for d := range m.parts {
		if sh := &w.servers[at.owner[d]]; sh.closed || sh.fenced || sh.epoch != at.epoch[d] {
			return
		}
	}
	add("open point", func(w *world) {
		w.points++
		w.point = point{open: true, from: at.owner}
		for d := range m.parts {
			w.point.was[d] = w.servers[at.owner[d]].shown[d]
		}
		w.point.rows = w.point.was
	})
}

// reads tells whether the point in time reads shard s.
func (w *world) reads(m *model, s int8) bool {
	for d := range m.parts {
		if w.point.open && w.point.from[d] == s {
			return true
		}
	}
	return false
}

// pointShows is the row of part d that the point in time shows.
func (w *world) pointShows(m *model, d int) int8 {
	owner := w.rings[w.newest].owner[d]
	if m.bug[pointMoved] && owner != w.point.from[d] && !w.servers[owner].closed {
		return w.servers[owner].shown[d]
	}
	return w.point.rows[d]
}

// crash ends the process: fences, permits and searches are gone, shards open again with the
// placement as it is stored.
func (m *model) crash(w *world) {
	w.crashes++
	w.point = point{}
	for i := range w.routers {
		if r := &w.routers[i]; r.doing != sent {
			*r = router{sees: r.sees}
		}
	}
	for s := range w.servers {
		sh := &w.servers[s]
		sh.shown = sh.rows
		if !sh.closed {
			w.take(int8(s), m)
		}
	}
}

// take lets shard s take the newest placement, and releases its fence.
func (w *world) take(s int8, m *model) {
	sh := &w.servers[s]
	sh.fenced, sh.closed, sh.epoch, sh.owns = false, false, 0, 0
	for d := range m.parts {
		if at := &w.rings[w.newest]; at.owner[d] == s {
			sh.epoch, sh.owns = at.epoch[d], sh.owns|1<<d
		}
	}
}
