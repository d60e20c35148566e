package coord

import (
	"sync"
	"time"
)

// Clock is the time of a store that is one process: the local wall clock, but never
// going back. When the wall clock is set back the time goes on from where it was,
// at the same rate, until the wall clock has caught up; meanwhile Ahead says by how
// much it is ahead. The zero Clock is ready. Safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	reading time.Time // the last reading of the machine, with its monotonic part
	at      time.Time // what was answered then
}

// Now is the time.
func (c *Clock) Now() Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading := time.Now()
	var elapsed time.Duration
	if !c.reading.IsZero() {
		elapsed = reading.Sub(c.reading)
	}
	wall := reading.Round(0)
	c.reading, c.at = reading, later(c.at, elapsed, wall)
	return Time{At: c.at, Ahead: c.at.Sub(wall)}
}

// Raise makes every later time at least at: an adapter gives the time of the last
// write that it finds.
func (c *Clock) Raise(at time.Time) {
	c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at.Round(0)
	}
}

// later is the time when elapsed has passed since the clock showed at and the wall
// shows wall.
func later(at time.Time, elapsed time.Duration, wall time.Time) time.Time {
	if at = at.Add(elapsed); wall.Before(at) {
		return at
	}
	return wall
}
