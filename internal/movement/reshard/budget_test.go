package reshard_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// slow is an engine that takes its time to stage.
type slow struct {
	shard.Engine
	takes, fenced time.Duration // without a fence, and behind one
	staged        int           // behind a fence
	before        func()        // what happens before it is staged without one
}

func (e *slow) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	takes := e.takes
	if _, limited := ctx.Deadline(); limited {
		e.staged++
		takes = e.fenced
	} else if e.before != nil {
		e.before()
	}
	select {
	case <-time.After(takes):
		return e.Engine.Stage(ctx, index, from, to)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TestAPauseThatCannotBeMetHoldsTheMovement: at once where its rehearsals say so, and else after some tries. It says by
// how much the budget was missed and what would do; nothing was handed off, and it goes on when it fits.
func TestAPauseThatCannotBeMetHoldsTheMovement(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name          string
		takes, fenced time.Duration
		staged        int
		says          string
	}{
		{"in rehearsals", 40 * ms, 40 * ms, 0, "no hand-off was tried, since half of its rehearsals took 120ms or more, and the pause budget is 20ms"},
		{"where what comes of it takes long to open", 7 * ms, ms, 0, "half of its rehearsals took 21ms or more"},
		{"behind the fence alone", ms, 40 * ms, 8, "8 hand-offs did not fit the pause budget of 20ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := &slow{Engine: shardmemory.New(shardmemory.Options{}), takes: c.takes, fenced: c.fenced}
				h := newHouseOn(t, 1, engine)
				h.budget = 20 * ms
				id := h.begin(false, by(2))
				m := h.work(id, movement.Held)
				if strings.Contains(m.Cause+m.Next, "writes a second") {
					t.Errorf("nobody writes: %s\n→ %s", m.Cause, m.Next)
				}
				if engine.staged != c.staged || !strings.Contains(m.Cause, c.says) || !strings.HasPrefix(m.Next, "reshelve movement abort, since nothing was handed off; then ") || !strings.Contains(m.Next, " --pause-budget ") {
					t.Errorf("%d tries: %s\n→ %s", engine.staged, m.Cause, m.Next)
				}
				for i := range m.Phases { // of the budgets that would do, one is named
					if strings.Contains(m.Phases[i].Outcome, "--pause-budget") {
						t.Errorf("%s: %s", m.Phases[i].Name, m.Phases[i].Outcome)
					}
				}
				if needed, err := time.ParseDuration(strings.Fields(m.Next[strings.Index(m.Next, "--pause-budget ")+15:])[0]); err != nil || needed < 2*max(20*ms, 3*c.takes) {
					t.Errorf("%s would do (%v): %s", needed, err, m.Next)
				}
				engine.staged, engine.before = 0, func() {
					for range 9 {
						h.write(document.Index, "1")
					}
				}
				h.tell(id, movement.Resume)
				m = h.work(id, movement.Held)
				if c.staged > 0 { // it has looked for long enough
					h.rates(m)
				}
				engine.before = nil
				p, err := h.store.PlacementOf(h.ctx, "books")
				h.must(err)
				if len(p.Shards) != 1 {
					t.Errorf("it was handed off: %s", p)
				}
				engine.takes, engine.fenced = ms, ms
				h.tell(id, movement.Resume)
				h.work(id, movement.Finished)
				if n := h.shards(); n != 2 {
					t.Errorf("%d shards", n)
				}
			})
		})
	}
}

// rates: what holds a movement says how many writes there are, and how many fewer would do.
func (h *house) rates(m *movement.Record) {
	h.Helper()
	var now, then int
	if n, _ := fmt.Sscanf(m.Cause[strings.LastIndex(m.Cause, ", ")+2:], "%d writes a second", &now); n != 1 || now < 1 {
		h.Errorf("it is not told how many writes there are: %s", m.Cause)
	}
	if n, _ := fmt.Sscanf(m.Next, "reshelve movement resume, when there are about %d writes a second", &then); n != 1 || then >= now {
		h.Errorf("it is not told how many would do, of %d: %s", now, m.Next)
	}
}

// TestAWayBackIsTriedThoughItsRehearsalsAreLong: no order leads out of it, so that it is not given up untried.
func TestAWayBackIsTriedThoughItsRehearsalsAreLong(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		engine := &slow{Engine: shardmemory.New(shardmemory.Options{}), takes: ms, fenced: ms}
		h := newHouseOn(t, 1, engine)
		h.budget = 20 * ms
		id := h.begin(true, by(2))
		h.work(id, movement.Switched)
		engine.takes = 40 * ms
		h.tell(id, movement.Reverse)
		h.work(id, movement.Reversed)
		if n := h.shards(); n != 1 {
			t.Errorf("%d shards", n)
		}
	})
}

// TestManyShardsAtATime: what is held says how many shards it is made of, the one that is kept included, and names a budget no
// smaller than the one that its plan named.
func TestManyShardsAtATime(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		h := newHouseOn(t, 1, &slow{Engine: shardmemory.New(shardmemory.Options{}), takes: 40 * ms, fenced: 40 * ms})
		h.budget = 20 * ms
		foretold := func(p placement.Placement) (placement.Plan, error) {
			plan, err := p.SplitBy(32, nil)
			plan.Pause = &placement.Pause{Needs: 9 * time.Second}
			return plan, err
		}
		if m := h.work(h.begin(false, foretold), movement.Held); !strings.HasSuffix(m.Next, " --pause-budget 9s, or fewer than 32 shards at a time") {
			t.Error(m.Next)
		}
	})
}
