package migrate

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestALaneForgetsWhatHasEnded: a process that goes on for months keeps open what it works for.
func TestALaneForgetsWhatHasEnded(t *testing.T) {
	d, l := drive.New(memory.New(), 0), &Lane{}
	turn := func(id string, state movement.State) {
		t.Helper()
		m := movement.Record{ID: id, Kind: movement.Migrate, State: state, Plan: []byte(`"none"`), Phases: []movement.Phase{}, Created: time.Now()}
		if err := d.Plan(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if _, err := l.turn(t.Context(), worker.Slot{Driver: d, Worker: "w"}, &m); err == nil {
			t.Fatal("there is no plan to open")
		}
	}
	turn("still", movement.Paused)
	for _, id := range []string{"a", "b", "c"} {
		turn(id, movement.Finished)
	}
	turn("now", movement.Running)
	if len(l.open) != 2 || l.open["still"] == nil || l.open["now"] == nil {
		t.Errorf("it keeps %d", len(l.open))
	}
}
