package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
)

// shelves is the scene of an index whose shards are split and merged while clients work with
// it: the real store, lane, driver and machines in a process that serves, on a disk and a
// coordination store that fail.
type shelves struct {
	*world
	engine    *memory.Engine // what is durable is in the newest
	served    *process       // whose the folder is
	server    *server        // that answers; nil: nobody does
	servers   map[*process]*server
	keys      []*key
	clients   []*client
	follower  *follower // nil: nobody follows
	movements []*asked
	writes    int // that came to the disk
	asking    int // requests that have no answer yet
	looked    time.Time
	audited   bool
	numbering map[shard.ID]map[int64]bool // of each shard the terms it has had
	given     map[place]bool
	versions  []int64 // of the placement
	deletion  deletion
	removing  int // looks of an operator at what is left of the index that was deleted
}

// place is what tells one write of a document from all others.
type place struct {
	id          string
	term, seqNo int64
}

// asked is a movement that an operator has asked for.
type asked struct {
	id     string
	before []placement.Shard // when its reshaping began; nil: it did not
	then   []placement.Shard // when it was taken out of the placement
	more   int               // shards than before, as it was planned
	turns  int               // of the operator since
}

func newShelves(w *world) *shelves {
	s := &shelves{world: w, servers: map[*process]*server{}, engine: memory.New(memory.Options{}), numbering: map[shard.ID]map[int64]bool{}, given: map[place]bool{}}
	for n := range w.script.Keys {
		s.keys = append(s.keys, newKey(n, w.script))
	}
	for n := range w.script.Clients {
		s.clients = append(s.clients, newClient(s, n))
	}
	if w.script.Follows {
		s.follower = newFollower(s)
	}
	return s
}

func (w *shelves) begin() {
	if w.follower != nil {
		w.follower.later()
	}
	for _, c := range w.clients {
		w.after(time.Second, c.next)
	}
}

func (w *shelves) befall(m Mishap) {
	switch m.What {
	case "split", "merge", "split-keeping", "merge-keeping":
		w.after(m.At, func() { w.ask(func(s *server) { s.reshape(m) }) })
	case "verb":
		w.after(m.At, func() { w.ask(func(s *server) { s.verb(w.id, movement.Verb(m.Whom)) }) })
	case "delete":
		w.after(m.At, func() { w.ask((*server).deleteIndex) })
	}
}

// ask lets an operator ask for something, of whoever answers then.
func (w *shelves) ask(what func(*server)) {
	switch {
	case w.over:
	case w.server == nil, w.cut():
		w.after(time.Second, func() { w.ask(what) })
	default:
		what(w.server)
	}
}

// cut tells whether nothing passes between the process and those who ask it.
func (w *shelves) cut() bool { return w.befalls("clients", "cut") }

func (w *shelves) weather()        {}
func (w *shelves) late(*call) bool { return false }
func (w *shelves) happened()       {}

// every is how often an operator looks.
const every = 3 * time.Second

// rests lets an operator bring what was begun to its end; then all that was written is read
// again, and that is it.
func (w *shelves) rests() {
	if time.Since(w.looked) < every || w.server == nil || w.audited || w.server.process.still() {
		return
	}
	w.looked = time.Now()
	busy := w.buries()
	for _, m := range w.movements { // those of operators are heard before clients leave
		busy = w.lead(m) || busy
	}
	for _, c := range w.clients {
		c.leaves = c.leaves || !busy
		busy = busy || !c.gone
	}
	if f := w.follower; f != nil && w.deletion == standing {
		busy = busy || !f.idle
	}
	if !busy && w.asking == 0 {
		w.audited = true
		w.server.audit()
	}
}

// lead asks for what a movement needs to come to its end; false when it has.
func (w *shelves) lead(a *asked) bool {
	record, there := w.records.all["movements/"+a.id]
	if !there {
		return false
	}
	m := w.read(record.Value)
	if w.endsAlone(&m) {
		return !m.State.Ended()
	}
	verb := movement.Verb("")
	switch m.State {
	case movement.Planned:
		verb = movement.Abort
	case movement.Held, movement.Failed, movement.Paused:
		if verb = movement.Resume; a.turns > 3 && !w.handedOff(a) {
			verb = movement.Reverse
			if !flipped(&m) {
				verb = movement.Abort
			}
		}
		if m.State == movement.Held && m.Cause == "" {
			w.violate("L11", "movement %s is held without a cause", a.id)
		}
	case movement.Switched:
		if verb = movement.Finish; (w.script.Seed+uint64(a.turns))%3 == 0 {
			verb = movement.Reverse
		}
	}
	if verb == "" {
		return !m.State.Ended()
	}
	if a.turns++; a.turns > patience {
		w.violate("L11", "movement %s is %s again and again: %s", a.id, m.State, m.Cause)
		w.end()
		return false
	}
	w.server.verb(a.id, verb)
	return true
}

func flipped(m *movement.Record) bool {
	return slices.ContainsFunc(m.Phases, func(p movement.Phase) bool { return p.Flips && !p.Started.IsZero() })
}

// ended is asked when nobody is at work any more.
func (w *shelves) ended() {
	for _, a := range w.movements {
		if record, there := w.records.all["movements/"+a.id]; there {
			if m := w.read(record.Value); m.State == movement.Planned && a.before == nil {
				continue // an operator's request that was on its way for too long: it is started by nobody
			} else if !m.State.Ended() {
				w.violate("L11", "movement %s stays %s: %s", a.id, m.State, m.Cause)
			} else {
				w.report.Ends = append(w.report.Ends, string(m.State))
			}
		}
	}
	for _, r := range w.records.list("movement/") { // what lies under closing keys the next start or end removes
		if !w.cameLate(r) {
			w.violate("L5", "%s is left", r.Key)
		}
	}
	if !w.audited {
		w.violate("L11", "what was written could not be read again")
	}
	w.leftOnDisk()
}

// cameLate tells whether a record is the entry of an order that was on its way while its movement
// was aborted, and of which nobody waits for the answer any more: the next start removes it.
func (w *shelves) cameLate(r coord.Record) bool {
	id := strings.Split(r.Key, "/")[1]
	m, there := w.records.all["movements/"+id]
	if !there || r.Revision < m.Revision || !strings.HasPrefix(r.Key, movement.LedgerPrefix(id)) {
		return false
	}
	return w.read(m.Value).State == movement.Aborted
}

// leftOnDisk is L5: nothing is staged, and nothing is kept of shards that are no more. What
// somebody read until the end, the next start forgets.
func (w *shelves) leftOnDisk() {
	if w.deletion == gone {
		for _, what := range w.leftOver() {
			w.violate("L5", "the index was deleted, and there is %s", what)
		}
		return
	}
	p := w.placed()
	rows, staged := w.engine.Kept(p.Index)
	for _, number := range rows {
		if _, named := p.Shard(number); !named {
			w.violate("L5", "the disk has rows of shard %d, and the placement does not name it", number)
		}
	}
	if len(staged) > 0 {
		w.violate("L5", "what the shards %v were to become is left on the disk", staged)
	}
}

// refusedAsk tells whether an error is one by which an operator is refused.
func refusedAsk(err error) bool {
	for _, kind := range []fault.Kind{fault.Conflict, fault.NotFound, fault.Refused, fault.Usage, fault.Limit} {
		if fault.Is(err, kind) {
			return true
		}
	}
	return false
}

// changed looks at a change of a record that has just been made.
func (w *shelves) changed(p *process, change coord.Write, old []byte) {
	parts := strings.Split(change.Key, "/")
	switch {
	case parts[0] == "placement":
		w.placementChanged(old, change)
	case change.Op != coord.OpSwap:
	case parts[0] == "movements":
		w.movementChanged(old, change.Value)
	case len(parts) > 2 && parts[2] == "phase", parts[0] == "closing" && change.Key == worker.ClosingKey(parts[1]):
		w.leaseChanged(p, change, old, true)
	}
}

// driver is the one that the processes have.
func (w *shelves) driver(p *process) *drive.Driver {
	return drive.New(view{p}, w.policy().ClockTolerance)
}

// chosen is the n-th shard by range, around and around.
func chosen(p *placement.Placement, n int) int { return n % max(len(p.Shards), 1) }
