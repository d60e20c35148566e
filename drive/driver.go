package drive

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
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
	at, _, err := d.clock.now(ctx)
	return at, err
}

// clock is the store's time as this machine follows it.
type clock struct {
	store     coord.Store
	tolerance time.Duration

	turn   lock // to ask the store
	at     coord.Time
	asked  time.Time // by the machine, with its monotonic part
	offset time.Duration
}

// asksEvery is how long an answer of the store's clock is good for: clocks of machines
// drift apart by less than a millisecond in it.
const asksEvery = 10 * time.Second

// now is the store's time, and how far the wall clock of this machine is ahead of it.
func (c *clock) now(ctx context.Context) (time.Time, time.Duration, error) {
	c.turn.lock()
	defer c.turn.unlock()
	if c.asked.IsZero() || time.Since(c.asked) > asksEvery {
		before := time.Now()
		at, err := c.store.Now(ctx)
		if err != nil {
			return time.Time{}, 0, err
		}
		c.at, c.asked = at, before.Add(time.Since(before)/2)
		c.offset = c.asked.Round(0).Sub(at.At)
	}
	return c.at.At.Add(time.Since(c.asked)), c.offset, nil
}

// check refuses to claim anything while the machine's clock is too far from the store's.
func (c *clock) check(ctx context.Context) (time.Time, error) {
	now, offset, err := c.now(ctx)
	if err != nil {
		return now, err
	}
	if c.tolerance > 0 && offset.Abs() > c.tolerance+c.at.Error {
		err := fault.New(fault.Refused, "the clock of this machine is %s from that of the coordination store", offset.Round(time.Millisecond))
		return now, fault.WithNext(err, "set the clock (NTP), or allow more with --clock-tolerance")
	}
	return now, nil
}
