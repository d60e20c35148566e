package worker_test

import (
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestWhatEndedMovementsLeaveIsRemoved: who ends one may be killed between telling that and
// removing what it was told with, and who slept past the end may have made a piece and died.
func TestWhatEndedMovementsLeaveIsRemoved(t *testing.T) {
	f := newFleet(t) // whose movement goes on
	ended := f.state()
	ended.ID = "ended"
	if err := f.Plan(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	for _, e := range []movement.Event{{Verb: movement.Abort, By: "ann"}, {Happened: movement.Undone, By: "w"}} {
		if _, _, err := f.Apply(t.Context(), ended.ID, e); err != nil {
			t.Fatal(err)
		}
	}
	made := []string{worker.ClosingKey("forgotten")}
	for _, id := range []string{"ended", "m"} {
		made = append(made, worker.ClosingKey(id), worker.ClosingKey(id)+"/report", work.Prefix(id)+"phase/one")
	}
	for _, key := range made {
		if err := f.Make(t.Context(), key, struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{worker.ClosingKey("nobody's"): "", worker.ClosingKey("ended") + "/host": "junk"} {
		if _, err := f.Store().Create(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
		made = append(made, key)
	}
	left := func() (left []string) {
		for _, key := range made {
			if _, err := f.Store().Get(t.Context(), key); err == nil {
				left = append(left, key)
			}
		}
		return left
	}
	if err := worker.Tidy(t.Context(), f.Driver); err != nil {
		t.Fatal(err)
	}
	want := []string{"movement/ended/phase/one", "closing/m", "closing/m/report", "movement/m/phase/one"}
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("after an end there is %v", got)
	}
	if err := worker.TidyEnded(t.Context(), f.Driver); err != nil {
		t.Fatal(err)
	}
	if got := left(); !slices.Equal(got, want[1:]) {
		t.Errorf("after a start there is %v", got)
	}
}
