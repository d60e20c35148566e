package worker_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestAPieceThatIsForgottenLeavesItsLeases: what a holder of it has sent may still be on its way when the movement is aborted at
// once, and the end waits for that. Its holder stores nothing any more, also when the piece is begun anew.
func TestAPieceThatIsForgottenLeavesItsLeases(t *testing.T) {
	f := newFleet(t)
	begun, _, err := f.Apply(t.Context(), "m", movement.Event{Happened: movement.PhaseBegun, Phase: "one", By: "x"})
	if err != nil {
		t.Fatal(err)
	}
	const key = "movement/m/phase/one"
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	held, _, err := drive.Claim[work.Lease](t.Context(), f.Driver, key, "holder", policy)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	late, err := f.Store().Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	now, err := f.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failed, err := held.Piece().Fail("holder", now, "no") // as who finds it with all its attempts spent stores it
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put(t.Context(), key, failed); err != nil {
		t.Fatal(err)
	}
	slot := worker.Slot{Driver: f.Driver, Worker: "p-0", Logger: slog.New(slog.DiscardHandler)}
	if err := worker.GiveUp(t.Context(), slot, &begun, "one", worker.Outcome{Failed: true, Text: "no", Piece: key}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store().Get(t.Context(), key); !fault.Is(err, fault.NotFound) {
		t.Errorf("the piece is there: %v", err)
	}
	if busy, err := worker.Busy(t.Context(), f.Driver, "m", policy); err != nil || !busy {
		t.Errorf("right after the failure it is busy: %v, %v", busy, err)
	}
	brief := policy
	brief.Heartbeat = time.Nanosecond
	if busy, err := worker.Busy(t.Context(), f.Driver, "m", brief); err != nil || busy {
		t.Errorf("three heartbeats later it is busy: %v, %v", busy, err)
	}
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store().Swap(t.Context(), key, late.Revision, late.Value); !fault.Is(err, fault.Conflict) {
		t.Errorf("what the holder stores: %v", err)
	}
	if err := held.Update(func(l work.Lease, _ time.Time) (work.Lease, error) { return l, nil }); !fault.Is(err, fault.LostLease) {
		t.Errorf("what the holder stores: %v", err)
	}
}

// TestAPieceThatIsForgottenTooLate leaves nothing behind of a movement that has ended.
func TestAPieceThatIsForgottenTooLate(t *testing.T) {
	f := newFleet(t)
	m := f.state()
	const key = "movement/m/phase/one"
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w", State: work.Failed}); err != nil {
		t.Fatal(err)
	}
	f.tell(movement.Abort)
	if _, _, err := f.Apply(t.Context(), "m", movement.Event{Happened: movement.Undone, By: "x"}); err != nil {
		t.Fatal(err)
	}
	slot := worker.Slot{Driver: f.Driver, Worker: "p-0", Logger: slog.New(slog.DiscardHandler)}
	if err := worker.GiveUp(t.Context(), slot, &m, "one", worker.Outcome{Failed: true, Text: "no", Piece: key}); err != nil {
		t.Fatal(err)
	}
	if left, err := drive.Pieces[map[string]any](t.Context(), f.Driver, "movement/m/"); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

// TestAPieceThatIsForgottenDuringTheEnd stays: somebody aborts after the failure was told, and what the piece's holder has sent
// may still be on its way then.
func TestAPieceThatIsForgottenDuringTheEnd(t *testing.T) {
	f := newFleet(t)
	m := f.state()
	const key = "movement/m/phase/one"
	now, err := f.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w", State: work.Failed, CompletedAt: now}); err != nil {
		t.Fatal(err)
	}
	f.tell(movement.Abort)
	slot := worker.Slot{Driver: f.Driver, Worker: "p-0", Logger: slog.New(slog.DiscardHandler)}
	if err := worker.GiveUp(t.Context(), slot, &m, "one", worker.Outcome{Failed: true, Text: "no", Piece: key}); err != nil {
		t.Fatal(err)
	}
	if busy, err := worker.Busy(t.Context(), f.Driver, "m", policy); err != nil || !busy {
		t.Errorf("right after the failure it is busy: %v, %v", busy, err)
	}
	if left, err := drive.Pieces[map[string]any](t.Context(), f.Driver, "movement/m/"); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
