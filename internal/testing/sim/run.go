package sim

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// patient is how long of simulated time a fleet may take after the last mishap.
const patient = 30 * time.Minute

// Run lets a script happen, and tells what came of it. With log every call is kept. It must
// not be called within a bubble of testing/synctest.
func Run(t *testing.T, truth *Truth, s *Script, log bool) (r Report) {
	t.Helper()
	// Of several goroutines that can go on at one instant, the order is then the same in each run,
	// unless the machine takes the processor away for 10 ms just then.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see world.collect
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), s, log)
		if w.scene = newScene(w, truth); w.scene == nil {
			t.Fatal("the script is of a migration, and there is no truth of one")
		}
		w.scene.begin()
		for n := range s.Workers {
			w.begin(fmt.Sprintf("w%d", n+1), 1)
		}
		w.schedule()
		w.run(s.last() + patient)
		w.report.State = w.movement().State
		w.scene.ended()
		w.report.Steps, w.report.Trace, w.report.Took = w.steps, w.hash.Sum64(), time.Since(w.began)
		r = w.report
	})
	return r
}

// newScene is the scene of a script.
func newScene(w *world, t *Truth) scene {
	switch {
	case w.script.Shards > 0:
		return newShelves(w)
	case t != nil:
		return newMigration(w, t)
	}
	return nil
}

// Shrink takes lines out of a script, and workers from its fleet, for as long as fails says
// that what is left still fails.
func Shrink(s *Script, fails func(*Script) bool) *Script {
	for again := true; again; {
		again = false
		for n := range s.Mishaps {
			less := *s
			less.Mishaps = slices.Delete(slices.Clone(s.Mishaps), n, n+1)
			if fails(&less) {
				s, again = &less, true
				break
			}
		}
		for _, smaller := range []func(*Script){
			func(s *Script) { s.Workers-- }, func(s *Script) { s.Slots = 1 }, func(s *Script) { s.Into = false }, func(s *Script) { s.Follows = false },
			func(s *Script) { s.Transform = false }, func(s *Script) { s.Delta = "" },
			func(s *Script) { s.Clients = max(s.Clients-1, min(s.Clients, 1)) }, func(s *Script) { s.Keys = max(s.Keys-1, min(s.Keys, 1)) },
			func(s *Script) { s.Shards = max(s.Shards-1, min(s.Shards, 1)) },
		} {
			less := *s
			smaller(&less)
			if less.Workers > 0 && less.String() != s.String() && fails(&less) {
				s, again = &less, true
			}
		}
	}
	return s
}
