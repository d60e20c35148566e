package control

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/reshard"
)

// TestWhatEndedMovementsLeaveIsRemoved: who ends one may be killed between telling that and
// removing what it was told with.
func TestWhatEndedMovementsLeaveIsRemoved(t *testing.T) {
	records := memory.New()
	k := New(Wiring{}).newDesk(records)
	for _, id := range []string{"ended", "open"} {
		r := movement.Record{ID: id, Kind: movement.Split, State: movement.Planned, Phases: reshard.Phases(), Plan: []byte(`{}`), Created: time.Now()}
		if err := k.d.Plan(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{hostKey(id), "closing/" + id, "closing/" + id + "/report"} {
			if err := k.d.Make(t.Context(), key, struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, e := range []movement.Event{{Verb: movement.Abort, By: "ann"}, {Happened: movement.Undone, By: "w"}} {
		if _, _, err := k.d.Apply(t.Context(), "ended", e); err != nil {
			t.Fatal(err)
		}
	}
	all, err := k.d.Movements(t.Context())
	if err == nil {
		err = k.tidy(t.Context(), all)
	}
	if err != nil {
		t.Fatal(err)
	}
	left, err := records.List(t.Context(), "closing/")
	if err != nil || len(left) != 3 || left[0].Key != "closing/open" {
		t.Errorf("left: %v %v", left, err)
	}
}
