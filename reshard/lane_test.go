package reshard_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/reshard"
	shardmemory "github.com/reshelve/reshelve/shard/memory"
	"github.com/reshelve/reshelve/worker"
)

func TestSplitAndMergeWhileClientsWork(t *testing.T) {
	h := newHouse(t, 2)
	c := h.clients(3)
	time.Sleep(100 * time.Millisecond)
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
	time.Sleep(50 * time.Millisecond)
	id := h.begin(true, by(3))
	h.work(id, movement.Switched)
	if _, err := h.tryBegin(false, by(2)); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), id) {
		t.Errorf("a second one: %v", err)
	}
	time.Sleep(50 * time.Millisecond)
	h.tell(id, movement.Reverse)
	if m := h.work(id, movement.Reversed); !strings.Contains(string(m.Report), `"fence"`) || strings.Contains(string(m.Report), `"documents":0}`) {
		t.Errorf("the report: %s", m.Report)
	}
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

func TestAbortLeavesNothing(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(1)
	time.Sleep(50 * time.Millisecond)
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
	ctx, stop := context.WithCancel(h.ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, h.driver, map[movement.Kind]worker.Lane{movement.Split: stopsBefore{h.lane, movement.VerifyPhase, stop}},
			worker.Options{Name: "w", Movement: id, Logger: quiet, Pause: 10 * time.Millisecond})
	}()
	<-done
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
	time.Sleep(20 * time.Millisecond)
	m := h.work(h.begin(false, by(3)), movement.Finished)
	c.end()
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	if h.shards() != 3 || told.Cloned.Documents == 0 || told.Compared.Documents == 0 || told.Cloned.Differences()+told.Compared.Differences() > 0 {
		t.Errorf("%s", m.Report)
	}
}
