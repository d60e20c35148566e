package control

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/reshard"
	"github.com/reshelve/reshelve/store"
)

// TestAPauseGrowsWithItsTargets: each is staged and opened while requests wait.
func TestAPauseGrowsWithItsTargets(t *testing.T) {
	const ms = time.Millisecond
	before := reshard.Pause{Fence: 12 * ms, Steps: store.Steps{Drain: ms, Stage: 6 * ms, Change: ms, Open: 4 * ms}, Targets: 2}
	for targets, want := range map[int]time.Duration{1: 12 * ms, 2: 12 * ms, 4: 22 * ms, 100: 12*ms + 49*10*ms} {
		if got := fenceTo(before, targets); got != want {
			t.Errorf("to %d shards %v, expected %v", targets, got, want)
		}
	}
	if before.Targets = 0; fenceTo(before, 100) != 12*ms {
		t.Error("of how many shards it was is not known, and it was reckoned with")
	}
	k, _ := vetoed(t)
	p, err := k.PlanReshape(t.Context(), ReshapeRequest{Kind: movement.Split, Shape: Shape{Index: "books", By: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Plan.Pause == nil || p.Plan.Pause.Fence < 4*perTarget {
		t.Errorf("to 4 shards from each: %v", p.Plan.Pause)
	}
}
