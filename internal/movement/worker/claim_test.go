package worker_test

import (
	"log/slog"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestAClaimLooksAtTheMovementAgain: it was read before an abort, and the abort may have
// looked for leases before this one was stored.
func TestAClaimLooksAtTheMovementAgain(t *testing.T) {
	f := newFleet(t)
	before := f.state()
	const key = "movement/m/index/1"
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	f.tell(movement.Abort)
	slot := worker.Slot{Driver: f.Driver, Worker: "w", Logger: slog.New(slog.DiscardHandler)}
	held, _, err := worker.Claim[work.Lease](t.Context(), slot, &before, key, policy)
	if held != nil || err != nil {
		t.Errorf("it was claimed for a movement that is %s: %v", f.state().State, err)
	}
	if busy, err := worker.Busy(t.Context(), f.Driver, "m", work.Policy{}); busy || err != nil {
		t.Errorf("the lease was not given back: %v", err)
	}
}
