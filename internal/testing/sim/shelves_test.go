package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/sim"
)

// TestShelves reshapes the indices of many seeds. SIM_SEEDS is how many, SIM_SEED the first.
func TestShelves(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 40
	}
	runs = number("SIM_SEEDS", runs)
	ends := map[string]int{}
	first := number("SIM_SEED", 1)
	for seed := first; seed < first+runs; seed++ {
		for _, end := range holds(t, sim.DrawShelves(uint64(seed))).Ends {
			ends[end]++
		}
	}
	t.Log(ends)
	for _, end := range []string{"finished", "aborted", "reversed"} {
		if ends[end] == 0 && runs >= 200 {
			t.Errorf("no movement was %s", end)
		}
	}
}

// TestASeedOfShelvesIsARun: nothing but the script decides.
func TestASeedOfShelvesIsARun(t *testing.T) {
	first := number("SIM_SEED", 1)
	for seed := first; seed < first+number("SIM_SEEDS", 25); seed++ {
		s := sim.DrawShelves(uint64(seed))
		if slices.ContainsFunc(s.Mishaps, func(m sim.Mishap) bool { return m.What == "stop" }) {
			continue // several goroutines are ended at once: see package context, and the first invariant
		}
		sameWay(t, seed, nil, s)
	}
}

// ways are the movements of the matrix: what operators ask for.
var ways = map[string]string{
	"split":   "split 0/3 at 1.000000001s\n",
	"merge":   "merge 0+2 at 1.000000001s\n",
	"reverse": "split-keeping 0/2 at 1.000000001s\nverb reverse at 4.000000001s\n",
	"abort":   "split 0/2 at 1.000000001s\nverb abort at 1.100000001s\n",
}

// befall is what is done at a step.
var befall = map[string]string{
	"killed before":               "crash-before %d for 2s\n",
	"killed after":                "crash-after %d for 2s\n",
	"the process sleeps too long": "pause-before %d for 25.000000001s\n",
	"its slot sleeps too long":    "stall %d for 25.000000001s\n",
	"the disk is full":            "full-at %d for 5s\n",
	"the index is deleted":        "delete-at %d\n",
}

// TestTheMatrix: whatever befalls any step, each change of a record and of the disk, of a split,
// a merge, a reversal and an abort, they come to an end, and nothing is lost.
func TestTheMatrix(t *testing.T) {
	const shelf = "workers 1 slots 2\nlease 8.000000007s heartbeat 900000001ns attempts 20\nbulk 1000 takes 200ms\nshards 2 keys 6 clients 2 budget 250ms\n"
	for way, asked := range ways {
		t.Run(way, func(t *testing.T) {
			seed := fmt.Sprintf("seed %d\n", number("SIM_SEED", 5))
			undisturbed := holds(t, parse(t, seed+shelf+asked))
			if end := map[string]string{"reverse": "reversed", "abort": "aborted"}[way]; end != "" && !slices.Contains(undisturbed.Ends, end) {
				t.Fatalf("undisturbed, it is %v", undisturbed.Ends)
			}
			every, ends, cells := 1, map[string]int{}, 0
			if testing.Short() {
				every = 9
			}
			for step := 1; step <= undisturbed.Steps; step += every {
				for _, what := range befall {
					r := holds(t, parse(t, seed+shelf+asked+fmt.Sprintf(what, step)))
					ends[fmt.Sprint(r.Ends)]++
					cells++
				}
			}
			t.Logf("%d cells, of %d steps: %v", cells, undisturbed.Steps, ends)
		})
	}
}

func parse(t *testing.T, text string) *sim.Script {
	t.Helper()
	s, err := sim.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShelvesScripts are runs that once broke a law, or that stand for something that must be
// survived. The name of each says what.
func TestShelvesScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "shelves", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, parse(t, string(text)))
		})
	}
}
