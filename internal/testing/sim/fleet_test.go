package sim_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/sim"
)

// TestAFleetGrowsInLine: a hundred workers do nearly a hundred times what one does, and ask the
// coordination store for no more by item.
func TestAFleetGrowsInLine(t *testing.T) {
	f := sim.Fleet{Workers: 100, Items: 5000, Takes: 40 * time.Second, Answers: 3 * time.Millisecond}
	if testing.Short() {
		f.Workers, f.Items = 30, 1500
	}
	r := f.Run(t)
	t.Logf("%.1f%% of what the workers could do; %v", 100*r.Share(f), r.Requests)
	if r.Share(f) < 0.93 {
		t.Errorf("the fleet does %.1f%% of what its workers could", 100*r.Share(f))
	}
	if each := float64(r.All()) / float64(f.Items); each > 38 { // 16 are heartbeats; who waits for the last items asks each second
		t.Errorf("it asks the coordination store %.1f times for an item", each)
	}
}

// TestAFleetKnowsItsEnd: of thousands of buckets, most of them empty, one worker sees for all
// that nothing is left in them.
func TestAFleetKnowsItsEnd(t *testing.T) {
	f := sim.Fleet{Workers: 20, Items: 200, Takes: 40 * time.Second, Answers: 3 * time.Millisecond, Digits: 3}
	r := f.Run(t)
	if late := r.Phase - r.Items; late > time.Minute {
		t.Errorf("the end of the phase is known %s after that of the last item", late)
	}
	t.Logf("last item after %s, known after %s; %v", r.Items, r.Phase, r.Requests)
}

// TestFleets measures fleets of several sizes, with SIM_FLEETS set: make bench-fleet.
func TestFleets(t *testing.T) {
	if os.Getenv("SIM_FLEETS") == "" {
		t.Skip("it takes minutes: make bench-fleet")
	}
	fmt.Println("| workers | items | last item after | the end known after | items/s | of what they could do | requests an item | requests a worker and second |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for workers := 1; workers <= number("SIM_FLEETS", 1000); workers *= 10 {
		f := sim.Fleet{Workers: workers, Items: 100 * workers, Takes: 40 * time.Second, Answers: 3 * time.Millisecond}
		r := f.Run(t)
		fmt.Printf("| %d | %d | %s | %s | %.3f | %.1f%% | %.1f | %.2f |\n", f.Workers, f.Items, r.Items.Round(time.Second), r.Phase.Round(time.Second),
			float64(f.Items)/r.Phase.Seconds(), 100*r.Share(f), float64(r.All())/float64(f.Items), float64(r.All())/float64(f.Workers)/r.Phase.Seconds())
		t.Log(r.Requests, r.Records, "records listed")
	}
}
