package coord

import (
	"sync"
	"time"
)

// Asked is the time of a store that is a server, which is asked for it: what it answers,
// but never going back: Behind says how far back it went. The zero Asked is ready. Safe for concurrent use.
type Asked struct {
	mu   sync.Mutex
	last time.Time // the latest that was told
	seen time.Time // when, by this machine
}

// Answered is the store's time when its server said told, asked by this machine's
// clock at from and heard just now: somewhere between was the time that it said, so that
// half of the way is the best guess and the other half is added to the error.
func (a *Asked) Answered(told Time, from time.Time) Time {
	now := time.Now()
	half := now.Sub(from) / 2
	told.At, told.Error = told.At.Round(0).Add(half), told.Error+half
	a.mu.Lock()
	defer a.mu.Unlock()
	if behind := a.last.Sub(told.At); behind > 0 {
		told.At, told.Behind = a.last, told.Behind+behind
	}
	a.last, a.seen = told.At, now
	return told
}

// Raise makes every later time at least at: an adapter gives the time of the last
// write that it finds.
func (a *Asked) Raise(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at.After(a.last) {
		a.last, a.seen = at.Round(0), time.Now()
	}
}

// About is the time as far as it is known without asking again; that of this machine
// before the first answer.
func (a *Asked) About() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen.IsZero() {
		return time.Now().Round(0)
	}
	return a.last.Add(time.Since(a.seen))
}
