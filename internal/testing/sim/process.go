package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// errDead is what a dead process is told, so that its goroutines end.
var errDead = fault.New(fault.Bug, "this process is dead")

// process is one life of a worker. But for ask, only the world calls its methods.
type process struct {
	world  *world
	worker string // "w1"
	name   string // "w1.2": its second life
	ctx    context.Context
	cancel context.CancelFunc

	clock   coord.Asked // the store's, as it was last read
	dead    bool
	leaving bool // somebody else begins
	exited  bool
	asleep  int
	pending map[*call]bool       // not answered
	stalls  map[string]time.Time // until when some part of it stands still
	turns   int                  // since
	since   time.Time
	held    []func() // what happens when it wakes
	answers []*call  // that those who asked the process hear then
}

// begin starts a life of a worker.
func (w *world) begin(worker string, life int) {
	if w.over {
		return
	}
	p := w.newProcess(worker, fmt.Sprintf("%s.%d", worker, life))
	w.processes[worker] = p
	w.lives = append(w.lives, p)
	go func() {
		err := w.scene.live(p)
		p.world.arrive(&call{process: p, verb: "exits", text: fmt.Sprint(err), do: func() any {
			w.alive--
			p.exited = true
			if !p.leaving && !w.over {
				p.leaving = true
				w.after(2*time.Second, func() { w.begin(worker, life+1) })
			}
			return nil
		}})
	}()
}

func (w *world) newProcess(worker, name string) *process {
	p := &process{world: w, worker: worker, name: name, pending: map[*call]bool{}, stalls: map[string]time.Time{}}
	seed := fnv.New64a()
	_, _ = fmt.Fprint(seed, w.script.Seed, name)
	p.ctx, p.cancel = context.WithCancel(chance.With(w.ctx, func() uint64 { // the instant decides, not the order of calls
		return mix(seed.Sum64() ^ uint64(time.Now().UnixNano()))
	}))
	w.alive++
	return p
}

// mix spreads the bits of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ask lets the world carry out a call, and waits for the answer.
func (p *process) ask(ctx context.Context, c *call) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	c.process, c.who, c.lot, c.answers = p, caller(ctx), chance.N(ctx, uint(math.MaxInt)), make(chan any, 1)
	p.world.arrive(c)
	select {
	case answer := <-c.answers:
		return heard(answer)
	case <-ctx.Done():
	}
	select { // Go would choose where both have happened
	case answer := <-c.answers:
		return heard(answer)
	default:
		c.gaveUp = time.Now()
		return nil, context.Cause(ctx)
	}
}

// heard is what an answer is to who asked.
func heard(answer any) (any, error) {
	if err, failed := answer.(error); failed {
		time.Sleep(time.Nanosecond) // who tries again at once must not stop the time
		return nil, err
	}
	return answer, nil
}

// sends takes a call from the process to its way.
func (p *process) sends(c *call) {
	p.world.calls++
	c.order = p.world.calls
	switch {
	case c.verb == "exits", c.inside && (p.dead || p.asleep == 0):
		c.do()
	case c.inside:
		p.answers = append(p.answers, c)
	case p.dead:
		c.answers <- errDead
	case p.asleep > 0:
		p.pending[c] = true
		c.woken = true
		p.held = append(p.held, func() { p.keeps(c, time.Until(p.stalls[c.who])) })
	case time.Now().Before(p.stalls[c.who]):
		p.pending[c] = true
		p.keeps(c, time.Until(p.stalls[c.who]))
	default:
		p.pending[c] = true
		p.world.send(c)
	}
}

// keeps holds a call back, which does not leave the process before.
func (p *process) keeps(c *call, d time.Duration) {
	if d <= 0 {
		p.world.send(c)
		return
	}
	p.world.after(d, func() {
		if !p.dead && !p.exited {
			p.world.send(c)
		}
	})
}

// hears brings the answer to the process.
func (p *process) hears(c *call, answer any) {
	switch {
	case !p.pending[c]:
		return
	case p.asleep > 0 && !p.dead:
		p.held = append(p.held, func() { p.hears(c, answer) })
		return
	}
	delete(p.pending, c)
	c.answers <- answer
}

// turned is L11: who finds nothing to do waits a while before it looks again.
func (p *process) turned() {
	if p.turns++; time.Since(p.since) < 10*time.Second {
		return
	}
	if p.turns > 250*p.world.script.Slots && !p.since.IsZero() {
		p.world.violate("L11", "%s has looked for work %d times in %s", p.name, p.turns, time.Since(p.since))
	}
	p.turns, p.since = 0, time.Now()
}

func (p *process) unreachable(c *call) error {
	if c.to == "target" {
		return errors.New("read: connection reset by peer")
	}
	return fault.New(fault.Unavailable, "the coordination store does not answer")
}

// crash ends the process as a power switch does; another life begins after a while.
func (p *process) crash(restart time.Duration) {
	if p.dead {
		return
	}
	leaving := p.leaving
	p.dead, p.leaving, p.held = true, true, nil
	p.cancel()
	for _, c := range slices.SortedFunc(maps.Keys(p.pending), func(a, b *call) int { return cmp.Compare(a.order, b.order) }) {
		c.gaveUp = time.Now()
		c.answers <- errDead
	}
	p.pending = map[*call]bool{}
	p.world.scene.died(p)
	p.tell()
	if !leaving {
		p.again(restart)
	}
}

// again begins another life after a while.
func (p *process) again(after time.Duration) {
	var life int
	_, _ = fmt.Sscanf(p.name, p.worker+".%d", &life)
	p.world.after(after, func() { p.world.begin(p.worker, life+1) })
}

// stop tells the process to stop; it lives on until it has, and another one begins.
func (p *process) stop(restart time.Duration) {
	if p.leaving {
		return
	}
	p.leaving = true
	if p.asleep > 0 { // it hears of it when it wakes
		p.held = append(p.held, p.cancel)
	} else {
		p.cancel()
	}
	p.again(restart)
}

// pause lets the process stand still. Its timers go on, which makes it no more careful: what
// it sends meanwhile goes out when it wakes.
func (p *process) pause(d time.Duration) {
	p.asleep++
	p.world.after(d, func() {
		if p.asleep--; p.asleep == 0 {
			p.wake()
		}
	})
}

// skew is how far the clock of the process's machine is ahead. Only the difference counts, so
// it is the store's that is told to be behind.
func (p *process) skew() time.Duration {
	for _, m := range p.world.script.Mishaps {
		if m.What == "skew" && m.Whom == p.worker {
			return m.For
		}
	}
	return 0
}

// stall lets a part of the process stand still: its next requests leave it afterwards.
func (p *process) stall(part string, d time.Duration) { p.stalls[part] = time.Now().Add(d) }

// still tells whether it, or a part of it, stands still.
func (p *process) still() bool {
	for _, until := range p.stalls {
		if time.Now().Before(until) {
			return true
		}
	}
	return p.asleep > 0
}

func (p *process) wake() {
	p.asleep = 0
	all := p.held
	p.held = nil
	for _, do := range all {
		do()
	}
	p.tell()
}

// tell lets those who asked the process hear what was held back, or that it is no more.
func (p *process) tell() {
	all := p.answers
	p.answers = nil
	for _, c := range all {
		c.do()
	}
}
