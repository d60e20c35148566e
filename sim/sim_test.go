package sim_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/sim"
)

var truth = sync.OnceValues(func() (*sim.Truth, error) {
	return sim.Load(context.Background(), filepath.Join("..", "testdata", "repositories", "opensearch-2.19.0-basic", "repo"))
})

func load(t *testing.T) *sim.Truth {
	t.Helper()
	held, err := truth()
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestSeeds lets the fleets of many seeds work. SIM_SEEDS is how many, SIM_SEED the first.
func TestSeeds(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 40
	}
	first := number("SIM_SEED", 1)
	for seed := first; seed < first+number("SIM_SEEDS", runs); seed++ {
		s := sim.Draw(uint64(seed))
		if r := sim.Run(t, load(t), s, false); len(r.Violations) > 0 {
			small := sim.Shrink(s, func(s *sim.Script) bool { return len(sim.Run(t, load(t), s, false).Violations) > 0 })
			r = sim.Run(t, load(t), small, true)
			t.Fatalf("seed %d: %s\n%s\n%s", seed, strings.Join(r.Violations, "\n"), small, tail(r.Log))
		}
	}
}

func tail(log []string) string {
	return strings.Join(log[max(0, len(log)-number("SIM_LOG", 40)):], "\n")
}

var _ = fmt.Sprint
