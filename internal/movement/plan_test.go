package movement_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// TestAPhaseCompletesThePlan, once: a second worker that ends it says nothing new.
func TestAPhaseCompletesThePlan(t *testing.T) {
	r, err := movement.ParseRecord("migrate snapshot indices")
	if err != nil {
		t.Fatal(err)
	}
	r.Plan = json.RawMessage(`{"open":true}`)
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for i, e := range []movement.Event{
		{Verb: movement.Start},
		{Happened: movement.PhaseBegun, Phase: "snapshot"},
		{Happened: movement.PhaseDone, Phase: "snapshot", Plan: json.RawMessage(`{"indices":["books"]}`)},
		{Happened: movement.PhaseDone, Phase: "snapshot", Plan: json.RawMessage(`{"indices":["late"]}`)},
		{Happened: movement.PhaseBegun, Phase: "indices"},
		{Happened: movement.PhaseDone, Phase: "indices"},
	} {
		e.At = at.Add(time.Duration(i) * time.Second)
		if r, _, err = movement.Step(r, e); err != nil {
			t.Fatal(e, err)
		}
	}
	if got, want := string(r.Plan), `{"indices":["books"]}`; got != want {
		t.Errorf("the plan is %s, not %s", got, want)
	}
	for _, e := range []movement.Event{
		{At: at, Verb: movement.Pause, Plan: json.RawMessage(`{}`)},
		{At: at, Happened: movement.PhaseDone, Phase: "snapshot", Plan: json.RawMessage(`{`)},
	} {
		if _, _, err := movement.Step(r, e); !fault.Is(err, fault.Bug) {
			t.Errorf("%s: %v", e, err)
		}
	}
}
