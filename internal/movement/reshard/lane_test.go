package reshard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

func TestSplitAndMergeWhileClientsWork(t *testing.T) {
	h := newHouse(t, 2)
	c := h.clients(3)
	m := h.work(h.begin(false, by(3)), movement.Finished)
	if n := h.shards(); n != 6 {
		t.Errorf("%d shards", n)
	}
	if !strings.Contains(string(m.Report), `"fence"`) {
		t.Errorf("the report tells no pause: %s", m.Report)
	}
	h.work(h.begin(false, joinAll), movement.Finished)
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
	h.work(h.begin(false, by(2)), movement.Finished)
	c.end()
	h.close()
	h.open()
	c.agree()
	if entries, err := h.driver.Ledger(h.ctx, "m1"); err != nil || len(entries) > 0 {
		t.Errorf("the ledger: %v %v", entries, err)
	}
}

func TestTheWayBackLosesNothing(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(2)
	id := h.begin(true, by(3))
	h.work(id, movement.Switched)
	if _, err := h.tryBegin(false, by(2)); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), id) {
		t.Errorf("a second one: %v", err)
	}
	c.rounds(30)
	h.tell(id, movement.Reverse)
	h.bothWays(h.work(id, movement.Reversed))
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
	id = h.begin(true, by(2))
	h.work(id, movement.Switched)
	h.tell(id, movement.Finish)
	h.work(id, movement.Finished)
	c.end()
	if n := h.shards(); n != 2 {
		t.Errorf("%d shards", n)
	}
}

// TestAPauseIsPredicted from rehearsals, and where it will not fit the budget that is said before
// anything is handed off. Which budget would do is named where the movement is held, once.
func TestAPauseIsPredicted(t *testing.T) {
	h := newHouse(t, 2)
	c := h.clients(2)
	h.budget = time.Microsecond
	id := h.begin(false, by(2))
	h.workBefore(id, reshard.PhaseSwitch)
	m, err := h.driver.Movement(h.ctx, id)
	h.must(err)
	if said := m.Phases[0].Outcome; !strings.Contains(said, "above the pause budget") || strings.Contains(said, "--pause-budget") {
		t.Errorf("the end of the clone says %q", said)
	}
	p, err := reshard.ProgressOf(h.ctx, h.driver, &m, h.store.NewestPlacement)
	h.must(err)
	if len(p.Owed) != 1 || p.Owed[0] != "hand-off shards 0,1" { // two groups, one deed
		t.Errorf("owed: %q", p.Owed)
	}
	h.tell(id, movement.Pause)
	h.tell(id, movement.Reverse)
	h.work(id, movement.Reversed)
	h.budget = 0
	m = *h.work(h.begin(false, by(2)), movement.Finished)
	c.end()
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	if len(told.Predicted) != 2 || len(told.Pauses) != 2 || told.Predicted[1].Basis != placement.Rehearsals || told.Predicted[1].Of != 3 || told.Predicted[1].Needs != 0 {
		t.Errorf("%s", m.Report)
	}
}

// TestWhatIsSharedIsTold: from the hand-off on, until it has been shed.
func TestWhatIsSharedIsTold(t *testing.T) {
	h := newHouse(t, 1)
	for i := range 300 {
		h.write(document.Index, fmt.Sprint(i))
	}
	id := h.begin(true, by(2))
	m := h.work(id, movement.Switched)
	p, err := reshard.ProgressOf(h.ctx, h.driver, m, h.store.NewestPlacement)
	h.must(err)
	if len(p.Shared) != 2 || p.Shared[0].Bytes == 0 || p.Shared[1].Shard != 1 || p.Shared[1].Bytes == 0 || p.Shared[1].Written != 0 {
		t.Errorf("at the hand-off: %+v", p.Shared)
	}
	h.tell(id, movement.Finish)
	m = h.work(id, movement.Finished)
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	for _, s := range told.Shared {
		if s.Bytes != 0 || s.Written == 0 && s.Rests == 0 {
			t.Errorf("in the end: %+v", s)
		}
	}
}

// bothWays: the report of a movement that was led back tells of the way there, and of the way
// back: each has its hand-off, and was compared twice.
func (h *house) bothWays(m *movement.Record) {
	h.Helper()
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	if told.Back == nil {
		h.Fatalf("the way back is not told: %s", m.Report)
	}
	for _, way := range []reshard.Way{told.Way, *told.Back} {
		if len(way.Predicted) != 1 || way.Predicted[0].Max == 0 || len(way.Pauses) != 1 || way.Pauses[0].Fence == 0 || way.Pauses[0].Steps.Stage == 0 || way.Pauses[0].Targets == 0 || way.Cloned.Documents == 0 || way.Compared.Documents == 0 || way.Cloned.Differences()+way.Compared.Differences() > 0 {
			h.Errorf("one way: %+v", way)
		}
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(1)
	id := h.begin(false, by(2))
	h.tell(id, movement.Abort)
	h.work(id, movement.Aborted)
	c.end()
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
	if entries, err := h.driver.Ledger(h.ctx, id); err != nil || len(entries) > 0 {
		t.Errorf("the ledger: %v %v", entries, err)
	}
	left, err := h.coord.List(h.ctx, "movement/")
	if err != nil || len(left) > 0 {
		t.Errorf("%d records are left (%v): %v", len(left), err, left)
	}
}

// TestAStoreClosesWithWhatIsPinned: one that is told to stop between a hand-off and its
// comparison does not wait for readers that nobody will use.
func TestAStoreClosesWithWhatIsPinned(t *testing.T) {
	h := newHouse(t, 1)
	id := h.begin(false, by(2))
	h.workBefore(id, movement.VerifyPhase)
	if n := h.lane.Pinned(); n != 1 {
		t.Errorf("%d hand-offs are pinned", n)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); h.close() }()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("the store waits for what is pinned")
	}
	h.open()
	h.work(id, movement.Finished)
}

// TestAPauseLetsGo: what a hand-off has pinned holds no disk while the movement is paused, and who
// resumes it compares what is shown then.
func TestAPauseLetsGo(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(1)
	id := h.begin(false, by(2))
	h.workBefore(id, movement.VerifyPhase)
	h.tell(id, movement.Pause)
	h.mind(id)
	if n := h.lane.Pinned(); n != 0 {
		t.Errorf("%d hand-offs are pinned while it is paused", n)
	}
	h.tell(id, movement.Resume)
	m := h.work(id, movement.Finished)
	c.end()
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	if told.Compared.Documents == 0 || told.Compared.Differences() > 0 {
		t.Errorf("%s", m.Report)
	}
}

// TestADeletedIndexEndsItsMovement, wherever that rests, and its cause is told.
func TestADeletedIndexEndsItsMovement(t *testing.T) {
	for _, one := range []struct {
		name string
		rest func(h *house, id string)
		ends movement.State
	}{
		{"paused before the hand-off", func(h *house, id string) { h.tell(id, movement.Pause) }, movement.Aborted},
		{"paused before the comparison", func(h *house, id string) {
			h.workBefore(id, movement.VerifyPhase)
			h.tell(id, movement.Pause)
		}, movement.Reversed},
		{"held while it retires", func(h *house, id string) {
			h.workBefore(id, reshard.PhaseRetire)
			h.happens(id, movement.Event{Happened: movement.PhaseBegun, Phase: reshard.PhaseRetire})
			h.happens(id, movement.Event{Happened: movement.Stuck, Phase: reshard.PhaseRetire, Cause: "as in a test"})
		}, movement.Finished},
		{"at work before the hand-off", func(*house, string) {}, movement.Aborted},
	} {
		t.Run(one.name, func(t *testing.T) {
			h := newHouse(t, 1)
			id := h.begin(false, by(2))
			one.rest(h, id)
			if err := h.store.DeleteIndices(h.ctx, catalog.Expression{Names: []string{"books"}}); err != nil {
				t.Fatal(err)
			}
			h.mind(id)
			m := h.work(id, one.ends)
			if !strings.Contains(string(m.Report), `"deleted":true`) || !strings.Contains(fmt.Sprintf("%+v", m.Journal), "index books was deleted") {
				t.Errorf("%s\n%+v", m.Report, m.Journal)
			}
			if entries, err := h.driver.Ledger(h.ctx, id); err != nil || len(entries) > 0 {
				t.Errorf("the ledger: %v %v", entries, err)
			}
		})
	}
}

// stopsBefore ends the worker when a phase comes.
type stopsBefore struct {
	*reshard.Lane
	phase string
	stop  context.CancelFunc
}

func (s stopsBefore) Turn(ctx context.Context, slot worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	if phase.Name == s.phase {
		s.stop()
		return worker.Outcome{}, ctx.Err()
	}
	return s.Lane.Turn(ctx, slot, m, phase)
}

// TestAnyEngineIsSplit: one whose incarnations are not in the segments of their sources is not
// thought to show something else.
func TestAnyEngineIsSplit(t *testing.T) {
	h := newHouseOn(t, 1, shardmemory.New(shardmemory.Options{}))
	c := h.clients(1)
	m := h.work(h.begin(false, by(3)), movement.Finished)
	c.end()
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	if h.shards() != 3 || told.Cloned.Documents == 0 || told.Compared.Documents == 0 || told.Cloned.Differences()+told.Compared.Differences() > 0 {
		t.Errorf("%s", m.Report)
	}
}

// TestThrottleIsObeyedInTheMiddleOfAWait: what waits by a rate of one byte in a second goes on
// when there is none any more, and not when those bytes would have been worth it.
func TestThrottleIsObeyedInTheMiddleOfAWait(t *testing.T) {
	h := newHouse(t, 1)
	for i := range 300 {
		h.write(document.Index, fmt.Sprint(i))
	}
	id := h.begin(false, by(2))
	h.happens(id, movement.Event{Verb: movement.Throttle, Rate: json.RawMessage(`{"bytesPerSecond":1}`), By: "test"})
	h.workBefore(id, reshard.PhaseRetire)
	go func() {
		for {
			m, err := h.driver.Movement(h.ctx, id)
			if err != nil || m.Current() != nil && m.Current().Name == reshard.PhaseRetire {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond) // it has shed one segment by then, and waits
		_, _, _ = h.driver.Apply(h.ctx, id, movement.Event{Verb: movement.Throttle, Rate: json.RawMessage(`{}`), By: "test"})
	}()
	began := time.Now()
	h.work(id, movement.Finished)
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("it did not wait: it took %v", took)
	}
}
