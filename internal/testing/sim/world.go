package sim

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
)

// world is where everything happens: one event at a time.
type world struct {
	script  *Script
	scene   scene
	id      string // of the movement
	records *records
	ctx     context.Context

	mu      sync.Mutex
	arrived []*call
	bell    chan struct{} // rings when something has arrived

	queue     events
	began     time.Time
	calls     int
	turns     int // of the loop
	steps     int
	processes map[string]*process // of each worker the newest
	lives     []*process          // all of them
	alive     int
	weather   map[string]map[string]int // who → what befalls it, how often at once
	ending    time.Time                 // when all are told to stop
	over      bool
	seen      struct { // the record of the movement, as it was last read
		id       string
		revision int64
		record   movement.Record
	}
	report Report
	hash   interface {
		Write([]byte) (int, error)
		Sum64() uint64
	}
}

// scene is what a world is for: a migration, or an index that is reshaped while it is served.
type scene interface {
	begin()                // before anything happens
	live(p *process) error // one life of a worker, until it ends
	befall(m Mishap)       // what only this scene knows
	weather()              // what befalls somebody has changed
	changed(p *process, change coord.Write, old []byte)
	late(c *call) bool // a request comes when it has no effect any more
	happened()         // an event has happened, and the script has perhaps more in store
	rests()            // the same, and it has not
	ended()            // nobody is at work any more
	died(p *process)   // by a crash
	copies() bool      // the movement is in the phase in which items have successors
	sends(c *call)     // a bulk request leaves its process
}

// Report is what came of a run.
type Report struct {
	Violations []string
	State      movement.State
	Steps      int            // changes of records that were asked for
	Calls      map[string]int // by their kind: "store get", "target POST"
	Trace      uint64         // a sum of all calls, in their order and with their instants
	Took       time.Duration  // of simulated time
	Unanswered int            // requests of clients of which nobody knows what has become
	Ends       []string       // of the movements
	Others     int            // writes of others on the target
	Kept       int            // writings of documents that the target did not take, since they were deleted
	Nameless   int            // writings by a name that leads nowhere any more
	Verbs      []string       // what the operator has asked for
	Log        []string       // the calls, when they were to be kept
}

// event is something that happens at an instant.
type event struct {
	at    time.Time
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if c := e[i].at.Compare(e[j].at); c != 0 {
		return c < 0
	}
	return e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push is heap.Interface's.
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop is heap.Interface's.
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// after lets something happen in a while.
func (w *world) after(d time.Duration, do func()) {
	w.calls++
	heap.Push(&w.queue, event{time.Now().Add(d), w.calls, do})
}

// call is a request of a process.
type call struct {
	lot     uint // that was drawn for it: two slots that ask the same at one instant draw others
	process *process
	to      string // "store" or "target"
	verb    string
	text    string
	order   int    // in which it was sent
	who     string // within the process
	inside  bool   // it goes nowhere: who asked the process is told what has come of it
	step    bool   // it makes something durable
	number  int    // of the step, once it is to be taken
	do      func() any
	answers chan any // of one
	sent    bool
	woken   bool      // it lay in the hands of a process that stood still
	gaveUp  time.Time // when nobody waited any more
}

// arrive hands a call to the world.
func (w *world) arrive(c *call) {
	w.mu.Lock()
	w.arrived = append(w.arrived, c)
	w.mu.Unlock()
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// most is how many calls a run may need: it works, and gets nowhere.
const most = 150_000

// run lets one event happen after the other until everybody has ended.
func (w *world) run(limit time.Duration) {
	w.began = time.Now()
	for {
		synctest.Wait()
		w.collect()
		w.admit()
		if w.over && w.alive == 0 {
			return
		}
		if (time.Since(w.began) > limit || w.calls > most) && !w.over {
			w.violate("L11", "movement %s is %s, and nobody knows why, after %d calls", w.id, w.movement().State, w.calls)
			w.end()
		}
		var timer <-chan time.Time
		if len(w.queue) > 0 {
			next := w.queue[0]
			if !next.at.After(time.Now()) {
				heap.Pop(&w.queue)
				next.do()
				continue
			}
			timer = time.After(time.Until(next.at))
		}
		select {
		case <-w.bell:
		case <-timer:
		}
	}
}

// collect frees memory, now that everybody waits: a collection at another time would change the
// order of the goroutines that can go on.
func (w *world) collect() {
	if w.turns++; w.turns%256 != 0 {
		return
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(sample); sample[0].Value.Uint64() > 256<<20 {
		runtime.GC()
	}
}

// admit takes what has arrived, in an order that does not depend on who was faster.
func (w *world) admit() {
	w.mu.Lock()
	all := w.arrived
	w.arrived = nil
	w.mu.Unlock()
	slices.SortStableFunc(all, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.process.name, b.process.name), cmp.Compare(a.to, b.to), cmp.Compare(a.verb, b.verb), cmp.Compare(a.text, b.text), cmp.Compare(a.lot, b.lot))
	})
	for _, c := range all {
		c.process.sends(c)
	}
}

// send lets a call travel.
func (w *world) send(c *call) {
	w.calls++
	c.sent = true
	if c.verb == bulkRequest {
		w.scene.sends(c)
	}
	// What it is and when it comes decide, not its place among others of the same instant: which of
	// several goroutines that are told to stop goes first is nowhere said.
	what := fnv.New64a()
	_, _ = fmt.Fprint(what, c.process.name, c.to, c.verb, c.text, c.lot, time.Now().UnixNano())
	chance := rand.New(rand.NewPCG(w.script.Seed, what.Sum64()))
	there, back := w.travel(c, chance), w.travel(c, chance)
	dice, inHands := chance.Float64(), chance.Float64() < 0.5
	w.after(there, func() {
		if inHands && c.process.asleep > 0 && !c.process.dead { // it had not left the process
			c.woken = true
			c.process.held = append(c.process.held, func() { w.send(c) })
			return
		}
		w.note(c)
		answer := w.carryOut(c, dice)
		if held, is := answer.(heldUp); is {
			c.process.keeps(c, held.later)
			return
		}
		w.check()
		w.after(back, func() { c.process.hears(c, answer) })
	})
}

// travel is how long one way takes.
func (w *world) travel(c *call, chance *rand.Rand) time.Duration {
	usual := 3 * time.Millisecond
	if c.to == "target" {
		usual = 20 * time.Millisecond
		if c.verb == bulkRequest {
			usual = w.script.Takes
		}
	}
	if w.befalls(c.to, "slow") {
		usual *= 40
	}
	return usual/2 + time.Duration(chance.Int64N(int64(usual)))
}

// carryOut does a call, unless the weather is against it.
func (w *world) carryOut(c *call, dice float64) any {
	if lost := w.against(c, dice); lost != nil {
		return lost
	}
	if c.step && c.number == 0 {
		w.steps++
		c.number = w.steps
		if later := w.holdsUp(c); later > 0 {
			return heldUp{later}
		}
		if w.crash("crash-before", c) {
			return errDead
		}
	}
	answer := c.do()
	if c.step && w.crash("crash-after", c) {
		return errDead
	}
	if w.befalls(c.to, "unsure") && dice < 0.5 {
		return c.process.unreachable(c)
	}
	return answer
}

// against is what becomes of a call that is not carried out; nil: it is.
func (w *world) against(c *call, dice float64) any {
	if c.process.dead && dice < 0.5 { // it was on its way, or not
		return errDead
	}
	if w.scene.late(c) {
		return errDead
	}
	switch {
	case c.step && w.befalls("disk", "full") && (c.to == "disk" || w.script.Shards > 0), c.verb == "write" && w.befalls("disk", "full"):
		return fullDisk()
	case w.cut(c, dice):
		return c.process.unreachable(c)
	case c.to == "target" && w.befalls("target", "broken") && dice < 0.8:
		return refusal(map[bool]int{true: 503, false: 500}[dice < 0.5], "no_shard_available_action_exception", "nobody is there")
	case c.verb == bulkRequest && w.befalls("target", "busy") && dice < 0.8:
		return refusal(429, "rejected_execution_exception", "rejected execution of coordinating operation")
	}
	return nil
}

// cut reports whether a call does not reach the other side.
func (w *world) cut(c *call, dice float64) bool {
	switch {
	case w.befalls(c.to, "away"):
		return true
	case c.to != "store":
		return false
	case c.verb == "create" && w.befalls("store", "barren") && strings.Contains(c.text, "/item/") && w.scene.copies():
		return true
	}
	return w.befalls("cut-off", c.process.worker) || w.befalls("store", "busy") && dice < 0.8
}

// crash tells whether the script lets who takes this step die.
func (w *world) crash(what string, c *call) bool {
	for _, m := range w.script.Mishaps {
		if m.What == what && m.Whom == fmt.Sprint(c.number) {
			c.process.crash(m.For)
			return true
		}
	}
	return false
}

// heldUp is the answer of a step that is to be taken later.
type heldUp struct{ later time.Duration }

// holdsUp is for how long the script holds up who takes this step; it may fill the disk, too.
func (w *world) holdsUp(c *call) (later time.Duration) {
	for _, m := range w.script.Mishaps {
		if m.Whom != fmt.Sprint(c.number) {
			continue
		}
		switch m.What {
		case "full-at":
			full := Mishap{What: "disk", Whom: "full"}
			w.change(full, 1)
			w.after(m.For, func() { w.change(full, -1) })
		case "pause-before":
			c.process.pause(m.For)
			later = m.For
		case "delete-at":
			w.scene.befall(Mishap{What: "delete", Whom: indexName})
		case "stall":
			c.process.stall(c.who, m.For)
			later = m.For
		}
	}
	return later
}

func (w *world) befalls(whom, what string) bool { return w.weather[whom][what] > 0 }

// note adds a call to the trace.
func (w *world) note(c *call) {
	w.report.Calls[c.to+" "+c.verb]++
	if c.verb == "list" && c.text == "movements/" {
		c.process.turned()
	}
	line := fmt.Sprintf("%s %s %s %s %s", time.Since(w.began), c.process.name, c.to, c.verb, c.text)
	_, _ = w.hash.Write([]byte(line + "\n"))
	if w.report.Log != nil {
		w.report.Log = append(w.report.Log, line)
	}
}

// violate notes that a law does not hold.
func (w *world) violate(law, format string, args ...any) {
	line := fmt.Sprintf("%s at %s: %s", law, time.Since(w.began), fmt.Sprintf(format, args...))
	w.report.Violations = append(w.report.Violations, line)
	if w.report.Log != nil {
		w.report.Log = append(w.report.Log, "!! "+line)
	}
}

// schedule puts what the script says into the queue.
func (w *world) schedule() {
	for _, m := range w.script.Mishaps {
		switch m.What {
		case "crash", "stop", "pause":
			w.after(m.At, func() { w.toProcess(m) })
		case "store", "target", "source", "disk", "clients", "cut-off":
			w.after(m.At, func() { w.change(m, 1) })
			w.after(m.At+m.For, func() { w.change(m, -1) })
		case "clock":
			by, _ := time.ParseDuration(m.Whom)
			w.after(m.At, func() { w.records.ahead += by })
		default:
			w.scene.befall(m)
		}
	}
}

func (w *world) change(m Mishap, by int) {
	if w.weather[m.What] == nil {
		w.weather[m.What] = map[string]int{}
	}
	w.weather[m.What][m.Whom] += by
	w.scene.weather()
}

func (w *world) toProcess(m Mishap) {
	p := w.processes[m.Whom]
	if p == nil || p.dead {
		return
	}
	switch m.What {
	case "crash":
		p.crash(m.For)
	case "stop":
		p.stop(m.For)
	case "pause":
		p.pause(m.For)
	}
}

// last is when the script has nothing more in store.
func (s *Script) last() (last time.Duration) {
	for _, m := range s.Mishaps {
		last = max(last, m.At+m.For)
	}
	return last
}

// check looks whether the run has come to its end.
func (w *world) check() {
	if w.over {
		return
	}
	if w.scene.happened(); !w.over && time.Since(w.began) > w.script.last() {
		w.scene.rests()
	}
}

// close ends the run after a while in which those who sleep wake up, and what they hold in
// their hands goes out.
func (w *world) close() {
	if w.ending.IsZero() {
		w.ending = time.Now().Add(30 * time.Second)
		w.after(time.Until(w.ending), w.end)
	}
}

// end tells everybody to stop.
func (w *world) end() {
	if w.over {
		return
	}
	w.over = true
	for _, p := range w.lives {
		if !p.dead {
			p.wake()
			p.cancel()
		}
	}
}

func newWorld(ctx context.Context, s *Script, log bool) *world {
	w := &world{script: s, ctx: ctx, bell: make(chan struct{}, 1), processes: map[string]*process{}, began: time.Now(),
		weather: map[string]map[string]int{}, hash: fnv.New64a()}
	w.report.Calls = map[string]int{}
	if log {
		w.report.Log = []string{}
	}
	w.records = newRecords(w)
	return w
}
