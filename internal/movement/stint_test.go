package movement_test

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// TestTheEndOfAPhaseThatIsToldTooLate: a worker stood still while its movement was held, and an operator has put
// another phase before the one that it tells of. That is no bug of the worker.
func TestTheEndOfAPhaseThatIsToldTooLate(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	r := movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Running, Stint: 1,
		Phases: []movement.Phase{{Name: "documents", Started: at}, {Name: movement.VerifyPhase}}}
	for _, e := range []movement.Event{
		{Happened: movement.Stuck, Phase: "documents", Cause: "the target is away", By: "a", Stint: 1},
		{Verb: movement.Redrive, By: "ann"},
	} {
		at = at.Add(time.Minute)
		e.At = at
		next, _, err := movement.Step(r, e)
		if err != nil {
			t.Fatal(err)
		}
		r = next
	}
	if r.State != movement.Running || r.Current().Name != movement.RedrivePhase {
		t.Fatalf("it is %s, in %v", r.State, r.Current())
	}
	late := movement.Event{At: at.Add(time.Minute), Happened: movement.PhaseDone, Phase: "documents", By: "b", Stint: 1}
	if next, _, err := movement.Step(r, late); !fault.Is(err, fault.Conflict) || next.Events != r.Events {
		t.Errorf("of the stint before: %v", err)
	}
	late.Stint = r.Stint
	if _, _, err := movement.Step(r, late); !fault.Is(err, fault.Bug) {
		t.Errorf("of this stint: %v", err)
	}
}
