package sim_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/testing/sim"
)

var truth = sync.OnceValues(func() (*sim.Truth, error) {
	return sim.Load(context.Background(), filepath.Join("..", "..", "..", "testdata", "repositories", "opensearch-2.19.0-basic", "repo"))
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

// holds lets a script happen, and fails with the smallest one that breaks the same law.
func holds(t *testing.T, s *sim.Script) sim.Report {
	t.Helper()
	truth := load(t)
	r := sim.Run(t, truth, s, false)
	if len(r.Violations) == 0 {
		return r
	}
	law, _, _ := strings.Cut(r.Violations[0], " ")
	small := sim.Shrink(s, func(s *sim.Script) bool {
		return slices.ContainsFunc(sim.Run(t, truth, s, false).Violations, func(v string) bool { return strings.HasPrefix(v, law+" ") })
	})
	first := r.Violations
	r = sim.Run(t, truth, small, true)
	lines := slices.DeleteFunc(r.Log, func(line string) bool { return strings.HasSuffix(line, "list movements/") })
	t.Fatalf("seed %d: %s\nthe script:\n%s\nthe end of the run:\n%s", s.Seed, strings.Join(append(first, r.Violations...), "\n"), small,
		strings.Join(lines[max(0, len(lines)-number("SIM_LOG", 40)):], "\n"))
	return r
}

// TestSeeds lets the fleets of many seeds work. SIM_SEEDS is how many, SIM_SEED the first.
func TestSeeds(t *testing.T) {
	runs := 150
	if testing.Short() {
		runs = 40
	}
	ends := map[movement.State]int{}
	first := number("SIM_SEED", 1)
	for seed := first; seed < first+number("SIM_SEEDS", runs); seed++ {
		ends[holds(t, sim.Draw(uint64(seed))).State]++
	}
	t.Log(ends)
	for state := range ends {
		if !state.Ended() {
			t.Errorf("a movement stays %s", state)
		}
	}
}

// TestASeedIsARun: nothing but the script decides.
func TestASeedIsARun(t *testing.T) {
	first := number("SIM_SEED", 0)
	for seed := first; seed < first+number("SIM_SEEDS", 30); seed++ {
		s := sim.Draw(uint64(seed))
		if slices.ContainsFunc(s.Mishaps, func(m sim.Mishap) bool {
			return m.What == "stop" && s.Slots > 1 || m.What == "lost" || m.What == "damaged" || m.What == "source"
		}) {
			continue // several goroutines are ended at once: see package context, and the first invariant
		}
		sameWay(t, seed, load(t), s)
	}
}

// sameWay runs a script twice.
func sameWay(t *testing.T, seed int, truth *sim.Truth, s *sim.Script) {
	t.Helper()
	one, other := sim.Run(t, truth, s, true), sim.Run(t, truth, s, true)
	for n := range min(len(one.Log), len(other.Log)) {
		if one.Log[n] != other.Log[n] {
			from := max(0, n-number("SIM_LOG", 3))
			t.Fatalf("seed %d: the same script goes two ways:\n%s\nand\n%s\n%s", seed, strings.Join(one.Log[from:n+1], "\n"),
				strings.Join(other.Log[from:min(n+4, len(other.Log))], "\n"), s)
		}
	}
	if one.Trace != other.Trace {
		t.Fatalf("seed %d: one run is longer: %d calls and %d\n%s", seed, len(one.Log), len(other.Log), s)
	}
}

func TestScriptsAreTexts(t *testing.T) {
	for seed := range uint64(100) {
		s := sim.Draw(seed)
		again, err := sim.Parse("# a comment\n\n" + s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%v\n%s\nbecomes\n%s", err, s, again)
		}
	}
	for _, wrong := range []string{"seed x", "workers", "storm w1 at 3s", "crash", "crash w1 at", "crash w1 in 3s", "store full at 1s for 2s", "lost w1 at 3s", "delta up", "hours soon at 3s", "limit much at 3s", "clock soon at 3s", "crash-after w1"} {
		if s, err := sim.Parse(wrong); err == nil {
			t.Errorf("%q is read as\n%s", wrong, s)
		}
	}
}

// TestACrashAtEveryStep: two processes, one of which dies right before, or right after, each
// change of a record.
func TestACrashAtEveryStep(t *testing.T) {
	const fleet = "seed 3\nworkers 2 slots 1\nlease 9.000000007s heartbeat 1.300000001s attempts 20\nbulk 2000 takes 700ms\n"
	for _, end := range []string{"", "verb abort at 9s\n"} {
		s, err := sim.Parse(fleet + end)
		if err != nil {
			t.Fatal(err)
		}
		steps := holds(t, s).Steps
		if steps < 60 {
			t.Fatalf("only %d steps", steps)
		}
		every := 1
		if testing.Short() {
			every = 7
		}
		for step := 1; step <= steps; step += every {
			for _, when := range []string{"before", "after"} {
				s, err := sim.Parse(fmt.Sprintf("%s%scrash-%s %d for 2s\n", fleet, end, when, step))
				if err != nil {
					t.Fatal(err)
				}
				holds(t, s)
			}
		}
	}
}

// TestSuccessors: leases so short that each big shard is handed over three times and more.
func TestSuccessors(t *testing.T) {
	s, err := sim.Parse("seed 4\nworkers 3 slots 1\nlease 6.500000007s heartbeat 700000001ns attempts 60\nbulk 700 takes 700ms\ntarget busy at 1s for 4m\n")
	if err != nil {
		t.Fatal(err)
	}
	if r := holds(t, s); r.State != movement.Finished {
		t.Fatal(r.State)
	}
	starts := map[string]int{}
	for _, line := range sim.Run(t, load(t), s, true).Log {
		if m := madeItem.FindStringSubmatch(line); m != nil {
			starts[m[1]]++
		}
	}
	for shard, cut := range map[string]int{"loans__0": 3, "shelves__0": 4, "shelves__1": 3} { // items at first
		if starts[shard] < cut+3 {
			t.Errorf("%s has %d items and successors", shard, starts[shard])
		}
	}
}

// TestWhatWasDeletedStaysDeleted: two workers fall asleep in the first movement with documents in
// their hands, and wake in the delta, which has deleted some of them and waits for the store.
func TestWhatWasDeletedStaysDeleted(t *testing.T) {
	kept := 0
	for seed := range 40 {
		s, err := sim.Parse(fmt.Sprintf("seed %d\nworkers 3 slots 2\nlease 9.000000007s heartbeat 1.100000001s attempts 20\nbulk 9000 takes 1.5s\ndelta forth\n"+
			"pause w1 at %[2]dms for 31s\npause w2 at %[2]dms for 31s\nstore away at 26s for 20s\n", seed, 1801+seed%8*200))
		if err != nil {
			t.Fatal(err)
		}
		kept += holds(t, s).Kept
	}
	if kept == 0 {
		t.Error("no worker had a deleted document in its hands")
	}
	t.Logf("%d writings of deleted documents were refused", kept)
}

// TestWhatComesAfterAnAbortIsLost: a worker falls asleep with documents in its hands, and wakes long after
// the movement was aborted. The target, which makes indices by itself, is as it was before.
func TestWhatComesAfterAnAbortIsLost(t *testing.T) {
	came := 0
	for seed := range 30 {
		into := map[bool]string{true: "into-existing\n"}[seed%3 == 2]
		s, err := sim.Parse(fmt.Sprintf("seed %d\nworkers 2 slots 2\nlease 9.000000007s heartbeat 1.100000001s attempts 20\nbulk 3000 takes 1.5s\n%s"+
			"pause w1 at %dms for 2m\nverb abort at %dms\n", seed, into, 1501+seed%8*300, 2001+seed%8*300))
		if err != nil {
			t.Fatal(err)
		}
		r := holds(t, s)
		if r.State != movement.Aborted {
			t.Errorf("seed %d: it is %s", seed, r.State)
		}
		came += r.Nameless
	}
	if came == 0 {
		t.Error("no worker had a document in its hands")
	}
	t.Logf("%d writings came after the end", came)
}

var madeItem = regexp.MustCompile(`create movement/m/item/./([a-z-]+__\d+)__\d+ `)

// TestScripts are runs that once broke a law, or that stand for something that must be
// survived. The name of each says what.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sim.Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			want := movement.Finished
			if strings.Contains(string(text), "verb abort") {
				want = movement.Aborted
			}
			if r := holds(t, s); r.State != want {
				t.Errorf("it is %s", r.State)
			}
		})
	}
}
