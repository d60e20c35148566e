package reshard_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/shard"
	shardmemory "github.com/reshelve/reshelve/shard/memory"
)

// slow is an engine that takes its time to stage.
type slow struct {
	shard.Engine
	takes  time.Duration
	staged int    // behind a fence
	before func() // what happens before it is staged without one
}

func (e *slow) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	if _, limited := ctx.Deadline(); limited {
		e.staged++
	} else if e.before != nil {
		e.before()
	}
	select {
	case <-time.After(e.takes):
		return e.Engine.Stage(ctx, index, from, to)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TestAPauseThatCannotBeMetHoldsTheMovement: after some tries it says by how much the budget was
// missed and what would do; nothing was handed off, and it goes on when it fits.
func TestAPauseThatCannotBeMetHoldsTheMovement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &slow{Engine: shardmemory.New(shardmemory.Options{}), takes: 40 * time.Millisecond}
		h := newHouseOn(t, 1, engine)
		h.budget = 20 * time.Millisecond
		id := h.begin(false, by(2))
		m := h.work(id, movement.Held)
		if strings.Contains(m.Cause+m.Next, "writes a second") {
			t.Errorf("nobody writes: %s\n→ %s", m.Cause, m.Next)
		}
		engine.staged, engine.before = 0, func() { h.write(document.Index, "1") }
		h.tell(id, movement.Resume)
		m = h.work(id, movement.Held)
		var now, then int
		if n, _ := fmt.Sscanf(m.Cause[strings.LastIndex(m.Cause, ", ")+2:], "%d writes a second", &now); n != 1 || now < 1 {
			t.Errorf("it is not told how many writes there are: %s", m.Cause)
		}
		if n, _ := fmt.Sscanf(m.Next, "resume it when there are about %d writes a second", &then); n != 1 || then >= now {
			t.Errorf("it is not told how many would do, of %d: %s", now, m.Next)
		}
		engine.before = nil
		if engine.staged != 8 || !strings.Contains(m.Cause, "8 hand-offs did not fit the pause budget of 20ms") || !strings.Contains(m.Next, "--pause-budget ") {
			t.Errorf("%d tries: %s\n→ %s", engine.staged, m.Cause, m.Next)
		}
		p, err := h.store.PlacementOf(h.ctx, "books")
		h.must(err)
		if len(p.Shards) != 1 {
			t.Errorf("it was handed off: %s", p)
		}
		engine.takes = time.Millisecond
		h.tell(id, movement.Resume)
		h.work(id, movement.Finished)
		if n := h.shards(); n != 2 {
			t.Errorf("%d shards", n)
		}
	})
}
