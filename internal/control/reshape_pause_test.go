package control

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// had notes a movement of an index as one that has ended, with a hand-off that took so long for each group.
func (k *MovementService) had(t *testing.T, id string, plan placement.Plan, fence time.Duration, back bool) {
	t.Helper()
	way := reshard.Way{}
	for range plan.Groups {
		way.Pauses = append(way.Pauses, reshard.Pause{Fence: fence})
	}
	told := reshard.Progress{Way: way}
	if back {
		told = reshard.Progress{Back: &way}
	}
	text, err := json.Marshal(reshard.Plan{Index: "books", Shards: plan})
	report, e := json.Marshal(told)
	if err == nil && e == nil {
		err = k.d.Plan(t.Context(), movement.Record{ID: id, Kind: movement.Split, State: movement.Planned, Plan: text, Report: report, Created: time.Unix(1, 0)})
	}
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
}

// TestAPauseIsPredictedFromItsLike: from hand-offs of the same index that had the same shape, and of no others.
func TestAPauseIsPredictedFromItsLike(t *testing.T) {
	k, _ := vetoed(t)
	predicted := func(shape Shape) *placement.Pause {
		t.Helper()
		shape.Index = "books"
		p, err := k.PlanReshape(t.Context(), ReshapeRequest{Kind: movement.Split, Shape: shape})
		if err != nil || p.Plan.Pause == nil {
			t.Fatal(p, err)
		}
		return p.Plan.Pause
	}
	p, err := k.side.lane.Store.PlacementOf(t.Context(), "books")
	if err != nil {
		t.Fatal(err)
	}
	plan := func(parts int, index uint32) placement.Plan {
		plan, err := p.SplitBy(parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan.Index = index
		return plan
	}
	const long = 928 * time.Millisecond
	for i, of := range []placement.Plan{plan(256, p.Index), plan(256, p.Index), plan(2, p.Index+1), plan(2, p.Index+1)} {
		k.had(t, "m"+string(rune('0'+i)), of, long, false)
	}
	k.had(t, "m5", plan(2, p.Index), long, true) // of its way back, which joined two
	if got := predicted(Shape{By: 2}); got.Basis != placement.Probes || got.Max >= long {
		t.Errorf("of what others took it is thought to take %v", got)
	}
	if got := predicted(Shape{By: 256}); got.Basis != placement.Before || got.Max != long || got.Of != 4 || got.Needs <= long {
		t.Errorf("of what the same took it is thought to take %v", got)
	}
	k.had(t, "m6", plan(2, p.Index), 3*time.Millisecond, false)
	k.had(t, "m7", plan(2, p.Index), 4*time.Millisecond, false)
	if got := predicted(Shape{By: 2}); got.Basis != placement.Before || got.Max != 4*time.Millisecond || got.Of != 4 {
		t.Errorf("of four like it: %v", got)
	}
	if got := predicted(Shape{By: 4}); got.Fence < 4*perShard {
		t.Errorf("to 4 shards from each: %v", got)
	}
}
