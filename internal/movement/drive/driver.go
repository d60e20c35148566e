package drive

import (
	"context"
	"math"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// Driver runs the machines whose records lie in one coordination store. Safe for concurrent
// use.
type Driver struct {
	store coord.Store
	clock clock
}

// New makes a driver. Tolerance is how far the machine's clock may be from the store's.
func New(store coord.Store, tolerance time.Duration) *Driver {
	return &Driver{store: store, clock: clock{store: store, tolerance: tolerance, turn: newLock()}}
}

// Store is the coordination store.
func (d *Driver) Store() coord.Store { return d.store }

// Now is the store's time. Between two questions to the store it goes on with the machine's
// monotonic clock.
func (d *Driver) Now(ctx context.Context) (time.Time, error) {
	now, err := d.clock.now(ctx)
	return now.at, err
}

// PassedNow is Passed by what the store says now: of what was cached it is not known whether the store's
// clock was set back since.
func (d *Driver) PassedNow(ctx context.Context) (time.Time, error) {
	now, err := d.clock.fresh(ctx)
	return now.passed(), err
}

// Passed is a time of the store that has surely come: of who does not answer to it, nothing more is
// to be expected.
func (d *Driver) Passed(ctx context.Context) (time.Time, error) {
	now, err := d.clock.now(ctx)
	return now.passed(), err
}

// Uncertain says that the store's clock was set back, so that nobody knows whether leases have ended
// which were taken before; nil: it was not. Who finds nothing to do waits for that perhaps.
func (d *Driver) Uncertain(ctx context.Context) error {
	now, err := d.clock.now(ctx)
	if err != nil || now.behind < doubtful {
		return err
	}
	err = fault.New(fault.Transient, "the clock of the coordination store was set back: until it shows %s again, it is not known whether older leases have ended", now.at.UTC().Format("15:04"))
	return fault.WithNext(err, "wait, or set that clock")
}

// doubtful is how far back a clock must be set before that is logged.
const doubtful = 5 * time.Second

// clock is the store's time as this machine follows it.
type clock struct {
	store     coord.Store
	tolerance time.Duration

	turn  lock // to ask the store
	told  reading
	asked time.Time // by the machine, with its monotonic part
}

// reading is the store's time, and by how much it may be wrong, either way: an answer that was
// long on its way is of nobody knows when. It may be wrong by more the one way, where the store's
// clock was set back.
type reading struct {
	at     time.Time
	wrong  time.Duration
	behind time.Duration
	offset time.Duration // of this machine's wall clock: ahead
	apart  time.Duration // of the wall clock of the store's machine: behind
	read   time.Time     // when it was at, by this machine, with its monotonic part
}

// passed is a time of the store that has surely come, for every client.
func (r reading) passed() time.Time { return r.at.Add(-r.wrong - r.behind) }

// until is an instant of this machine at which the store's time has surely not come to t yet.
func (r reading) until(t time.Time) time.Time { return r.read.Add(t.Sub(r.at.Add(r.wrong))) }

// asksEvery is how long an answer of the store's clock is good for: clocks of machines
// drift apart by less than a millisecond in it.
const asksEvery = 10 * time.Second

// An answer of the clock that took longer than quickly, because the store is slow or this
// process stood still, is asked for again, some times.
const (
	quickly = time.Second
	asks    = 3
)

// now is the store's time.
func (c *clock) now(ctx context.Context) (reading, error) {
	c.turn.lock()
	defer c.turn.unlock()
	if c.asked.IsZero() || time.Since(c.asked) > asksEvery {
		if err := c.ask(ctx); err != nil {
			return reading{}, err
		}
	}
	now := c.told
	now.read = time.Now()
	now.at = now.at.Add(now.read.Sub(c.asked))
	return now, nil
}

// fresh is the store's time, asked now.
func (c *clock) fresh(ctx context.Context) (reading, error) {
	c.turn.lock()
	c.asked = time.Time{}
	c.turn.unlock()
	return c.now(ctx)
}

// ask asks the store; of several answers the one counts that was the quickest.
func (c *clock) ask(ctx context.Context) error {
	best := time.Duration(math.MaxInt64)
	for range asks {
		before := time.Now()
		at, err := c.store.Now(ctx)
		if err != nil {
			return err
		}
		took := time.Since(before)
		if took < best {
			best, c.asked = took, before.Add(took/2)
			c.told = reading{at: at.At, wrong: at.Error + took/2, behind: at.Behind, apart: at.Ahead, offset: c.asked.Round(0).Sub(at.At)}
		}
		if took <= quickly {
			break
		}
	}
	return nil
}

// check refuses to claim anything while the machine's clock is too far from the store's.
func (c *clock) check(ctx context.Context) (reading, error) {
	now, err := c.now(ctx)
	if err != nil {
		return now, err
	}
	if c.tolerance > 0 && now.offset.Abs() > c.tolerance+now.wrong+now.behind+now.apart {
		err := fault.New(fault.Refused, "the clock of this machine is %s from that of the coordination store", now.offset.Round(time.Millisecond))
		return now, fault.WithNext(err, "set the clock (NTP), or allow more with --clock-tolerance")
	}
	return now, nil
}
