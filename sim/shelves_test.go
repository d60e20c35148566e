package sim_test

import (
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/sim"
)

// TestShelvesSeeds reshapes the indices of many seeds. SIM_SEEDS is how many, SIM_SEED the
// first.
func TestShelvesSeeds(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 40
	}
	ends, unanswered := map[string]int{}, 0
	first := number("SIM_SEED", 1)
	for seed := first; seed < first+number("SIM_SEEDS", runs); seed++ {
		if testing.Verbose() {
			fmt.Println(seed)
		}
		r := holds(t, sim.DrawShelves(uint64(seed)))
		for _, end := range r.Ends {
			ends[end]++
		}
		unanswered += r.Unanswered
	}
	t.Log(ends, unanswered)
	for _, end := range []string{"finished", "aborted", "reversed"} {
		if ends[end] == 0 && runs > 100 {
			t.Errorf("no movement was %s", end)
		}
	}
}

var _ = fmt.Sprint
