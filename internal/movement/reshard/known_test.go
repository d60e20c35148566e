package reshard_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// What has gone wrong where others move shards, tried here; package proof lists who holds what.

// planned is a movement that is known, and whose reshaping is not begun yet.
func (h *house) planned(index string) (id string, plan reshard.Plan) {
	h.Helper()
	p, err := h.store.PlacementOf(h.ctx, index)
	h.must(err)
	shards, err := p.SplitBy(2, nil)
	h.must(err)
	plan = reshard.Plan{Index: index, Shards: shards, Budget: 10 * time.Second, Policy: policy}
	text, _ := json.Marshal(plan)
	h.n++
	id = fmt.Sprintf("m%d", h.n)
	h.must(h.driver.Plan(h.ctx, movement.Record{ID: id, Kind: plan.Kind(), State: movement.Planned, Plan: text, Phases: reshard.Phases(), Created: time.Now().UTC()}))
	return id, plan
}

func asked() placement.Change { return placement.Change{By: "test", Why: "test", At: time.Now().UTC()} }

// TestAnAbortThatComesBeforeTheBeginningCounts: who was slow to begin finds that it is over, and
// leaves no reshaping that nobody would end.
func TestAnAbortThatComesBeforeTheBeginningCounts(t *testing.T) {
	h := newHouse(t, 1)
	id, plan := h.planned("books")
	h.tell(id, movement.Abort)
	h.work(id, movement.Aborted)
	if err := h.lane.Begin(h.ctx, h.driver, id, plan, asked()); err == nil {
		t.Error("what was aborted was begun")
	}
	for range 30 { // and at the same time
		id, plan := h.planned("books")
		begun := make(chan error, 1)
		go func() { begun <- h.lane.Begin(h.ctx, h.driver, id, plan, asked()) }()
		h.tell(id, movement.Abort)
		h.work(id, movement.Aborted)
		<-begun
		if n := h.shards(); n != 1 { // and no reshaping is left
			t.Fatalf("%d shards", n)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	h.work(h.begin(false, by(2)), movement.Finished)
}

// TestAComparisonThatIsAskedForAgainChangesNothing: neither who owns what, nor what is there.
func TestAComparisonThatIsAskedForAgainChangesNothing(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(2)
	id := h.begin(true, by(2))
	h.work(id, movement.Switched)
	before, err := h.store.PlacementOf(h.ctx, "books")
	h.must(err)
	for asked := range 3 {
		if told := h.found(id); told.Compared.Later != (asked > 0) {
			t.Errorf("asked %d times to compare again, it tells %+v", asked, told.Compared)
		}
		if asked < 2 {
			h.tell(id, movement.Verify)
			h.work(id, movement.Switched)
		}
	}
	now, err := h.store.PlacementOf(h.ctx, "books")
	h.must(err)
	if !slices.Equal(now.Shards, before.Shards) || now.Next != before.Next {
		t.Errorf("it has become\n%v\nof\n%v", now, before)
	}
	h.tell(id, movement.Reverse)
	h.work(id, movement.Reversed)
	c.end()
}

// TestAnAbortedSplitLeavesNothingForTheNextStart: an abort under writes, a start of the store, a
// split, and nothing that the first has staged is in it.
func TestAnAbortedSplitLeavesNothingForTheNextStart(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(2)
	for range 3 {
		id := h.begin(false, by(3))
		h.tell(id, movement.Abort)
		h.work(id, movement.Aborted)
	}
	c.end()
	h.close()
	h.open()
	c.agree()
	h.work(h.begin(false, by(2)), movement.Finished)
	c.agree()
	if n := h.shards(); n != 2 {
		t.Errorf("%d shards", n)
	}
}

// TestTwoIndicesAreReshapedWhenAStoreOpens: each goes on by its own record.
func TestTwoIndicesAreReshapedWhenAStoreOpens(t *testing.T) {
	h := newHouse(t, 1)
	_, err := h.store.CreateIndex(h.ctx, "loans", nil)
	h.must(err)
	var ids []string
	for _, index := range []string{"books", "loans"} {
		id, plan := h.planned(index)
		h.must(h.lane.Begin(h.ctx, h.driver, id, plan, asked()))
		h.tell(id, movement.Start)
		ids = append(ids, id)
	}
	h.close()
	h.open()
	for _, id := range slices.Backward(ids) {
		h.work(id, movement.Finished)
	}
	for _, index := range []string{"books", "loans"} {
		if p, err := h.store.PlacementOf(h.ctx, index); err != nil || len(p.Shards) != 2 || p.Transfer != nil {
			t.Errorf("%s: %v\n%v", index, err, p)
		}
	}
}
