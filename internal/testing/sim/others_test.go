package sim_test

import (
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/sim"
)

// TestOthersWriteOnTheTarget, at every instant of a copy, of the delta that follows it, of repairs and
// of an abort: nothing of theirs that was acknowledged is replaced or deleted in silence.
func TestOthersWriteOnTheTarget(t *testing.T) {
	runs := 120
	if testing.Short() {
		runs = 15
	}
	written := 0
	for seed := range number("SIM_SEEDS", runs) {
		end, befalls := "", []string{"pause w1 at 9s for 31s\n", "crash w2 at 12s for 3s\n", "target unsure at 8s for 20s\n", "target slow at 5s for 10s\n", "target refuses at 20s for 20s\n", ""}
		if seed%5 == 4 {
			end = fmt.Sprintf("verb abort at %ds\n", 10+seed%40)
		}
		s, err := sim.Parse(fmt.Sprintf("seed %d\nworkers 2 slots 2\nlease 9.000000007s heartbeat 1.100000001s attempts 20\nbulk 3000 takes %dms\ndelta forth\nothers %dms at %dms for 2m\n%s%s",
			seed, 200+seed%7*300, 20+seed%11*70, 1+seed*300, befalls[seed%len(befalls)], end))
		if err != nil {
			t.Fatal(err)
		}
		written += holds(t, s).Others
	}
	if written < runs {
		t.Errorf("others have written %d times", written)
	}
	t.Logf("others have written %d times", written)
}
