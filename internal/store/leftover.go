package store

import (
	"context"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// leftovers are removals that a full disk has refused. Each is tried again until it is done, in the order
// in which they came; the next start finds what is still left when the store is closed.
type leftovers struct {
	mu sync.Mutex
	of []leftover
}

// leftover is one of them, and what it removes.
type leftover struct {
	what   string
	remove func(context.Context) error
}

// leftoversEvery is how long lies between two tries.
const leftoversEvery = time.Second

// later keeps a removal that was refused, to be tried again.
func (s *Store) later(what string, err error, remove func(context.Context) error) {
	s.options.Logger.Warn("something cannot be removed yet, it is tried again each second and at the next start", "what", what, "error", err)
	s.left.mu.Lock()
	defer s.left.mu.Unlock()
	s.left.of = append(s.left.of, leftover{what, remove})
}

// removeOrLater removes something, at another time where a full disk refuses it: what is there can be read
// nevertheless.
func (s *Store) removeOrLater(ctx context.Context, what string, remove func(context.Context) error) error {
	err := remove(ctx)
	if fault.Is(err, fault.Unavailable) {
		s.later(what, err, remove)
		return nil
	}
	return err
}

// removeLeftovers runs until ctx ends.
func (s *Store) removeLeftovers(ctx context.Context) {
	tick := time.NewTicker(leftoversEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for s.removeFirst(ctx) {
			}
		}
	}
}

// removeFirst tries the removal that has waited longest, and reports whether the next one is worth a try:
// what a full disk refuses to one it refuses to all.
func (s *Store) removeFirst(ctx context.Context) bool {
	s.left.mu.Lock()
	if len(s.left.of) == 0 {
		s.left.mu.Unlock()
		return false
	}
	first := s.left.of[0]
	s.left.mu.Unlock()
	err := s.guarded("removal", func() error { return first.remove(ctx) })
	if ctx.Err() != nil || fault.Is(err, fault.Unavailable) {
		return false
	}
	if err != nil {
		s.options.Logger.Warn("something was left over, the next start removes it", "what", first.what, "error", err)
	} else {
		s.options.Logger.Info("what could not be removed before is gone", "what", first.what)
	}
	s.left.mu.Lock()
	defer s.left.mu.Unlock()
	s.left.of = s.left.of[1:] // it is added to at its end alone
	return true
}
