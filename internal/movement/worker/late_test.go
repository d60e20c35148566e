package worker_test

import (
	"log/slog"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestLateBadNewsFailNoResumedMovement: two slots meet the piece that failed; one says so, the operator
// resumes, the piece is begun anew, and only then the other one, which stood still, says it too.
func TestLateBadNewsFailNoResumedMovement(t *testing.T) {
	f := newFleet(t)
	f.fails = func(key string, _ int) error { return fault.New(fault.Refused, "no") }
	begun, _, err := f.Apply(t.Context(), "m", movement.Event{Happened: movement.PhaseBegun, Phase: "one", By: "x"})
	if err != nil {
		t.Fatal(err)
	}
	f.run(t.Context(), 1)
	if r := f.state(); r.State != movement.Failed {
		t.Fatal(r.State)
	}
	f.tell(movement.Resume)
	const key = "movement/m/phase/one"
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	late := worker.Slot{Driver: f.Driver, Worker: "late", Logger: slog.New(slog.DiscardHandler)}
	if err := worker.GiveUp(t.Context(), late, &begun, "one", worker.Outcome{Failed: true, Text: "no", Piece: key}); err != nil {
		t.Fatal(err)
	}
	if r := f.state(); r.State != movement.Running {
		t.Errorf("it is %s: %s", r.State, r.Cause)
	}
	if _, err := drive.Read[work.Lease](t.Context(), f.Driver, key); err != nil {
		t.Errorf("the piece that was begun anew: %v", err)
	}
	if err := worker.Tell(t.Context(), late, &begun, movement.Event{Happened: movement.Stuck, Phase: "one", Cause: "no"}); err != nil {
		t.Fatal(err)
	}
	if r := f.state(); r.State != movement.Running {
		t.Errorf("it is %s: %s", r.State, r.Cause)
	}
}
