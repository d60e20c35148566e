package reshard_test

import (
	"context"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestAnAbortOfASwitchThatHandedNothingOff is taken: the shards stay as they were. Where something was handed off after
// all, in that moment, it is led back, and loses nothing.
func TestAnAbortOfASwitchThatHandedNothingOff(t *testing.T) {
	for name, budget := range map[string]time.Duration{"nothing": 1, "everything": 0} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, 1)
			c := h.clients(2)
			h.budget = budget
			id := h.begin(true, by(3))
			h.work(id, map[bool]movement.State{true: movement.Held, false: movement.Switched}[budget > 0])
			if _, _, err := h.driver.Apply(h.ctx, id, movement.Event{Verb: movement.Abort, By: "test"}); err == nil {
				t.Error("it is aborted, though nobody has looked whether something was handed off")
			}
			h.happens(id, movement.Event{Verb: movement.Abort, By: "test", Unswitched: true})
			h.work(id, movement.Aborted)
			if n := h.shards(); n != 1 {
				t.Errorf("%d shards", n)
			}
			c.end()
		})
	}
}

// TestAMovementAtWorkIsReversed without being paused before, at any moment behind the beginning of its switch.
func TestAMovementAtWorkIsReversed(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(2)
	for round := range 6 {
		id := h.begin(true, by(2))
		h.workBefore(id, reshard.PhaseSwitch)
		ctx, stop := context.WithCancel(h.ctx)
		ended := make(chan error, 1)
		go func() {
			ended <- worker.Run(ctx, h.driver, map[movement.Kind]worker.Lane{movement.Split: h.lane},
				worker.Options{Name: "w", Slots: 2, Movement: id, Logger: quiet, Pause: 10 * time.Millisecond})
		}()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			m, err := h.driver.Movement(h.ctx, id)
			h.must(err)
			if m.Ask(movement.Reverse).Answer == movement.Goes {
				break
			}
		}
		time.Sleep(time.Duration(round) * 5 * time.Millisecond)
		h.tell(id, movement.Reverse)
		h.must(<-ended)
		stop()
		h.work(id, movement.Reversed)
		if n := h.shards(); n != 1 {
			t.Fatalf("%d shards", n)
		}
	}
	c.end()
}
