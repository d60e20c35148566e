package worker_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestWhatKeepsWorkersAwayIsOnRecord: whoever looks at the movement sees why processes cannot work for it, one record
// for each cause, however many there are; when the movement has ended, none is left.
func TestWhatKeepsWorkersAwayIsOnRecord(t *testing.T) {
	f := newFleet(t)
	for _, name := range []string{"a", "b"} {
		_ = worker.Run(t.Context(), f.Driver, map[movement.Kind]worker.Lane{"count": blind{f.counter}},
			worker.Options{Name: name, Movement: "m", Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	}
	now, err := f.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := f.state()
	all, err := worker.Inabilities(t.Context(), f.Driver, &m, now)
	if err != nil || len(all) != 1 || all[0].Next != "give others" || !strings.Contains(all[0].Cause, "does not know these credentials") {
		t.Errorf("%+v %v", all, err)
	}
	if all, err := worker.Inabilities(t.Context(), f.Driver, &m, now.Add(time.Hour)); err != nil || len(all) != 0 {
		t.Errorf("an hour later: %+v %v", all, err)
	}
	m.State = movement.Aborting
	if all, err := worker.Inabilities(t.Context(), f.Driver, &m, now); err != nil || len(all) != 0 {
		t.Errorf("while it is undone: %+v %v", all, err)
	}
	f.run(t.Context(), 1)
	if left, err := drive.Pieces[map[string]any](t.Context(), f.Driver, "closing/"); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

// TestADamagedInabilityIsLeftOut: it keeps neither the others from whoever looks nor new ones from being put down, and goes
// when the movement has ended.
func TestADamagedInabilityIsLeftOut(t *testing.T) {
	f := newFleet(t)
	for name, value := range map[string]string{"torn": `{"worker":`, "other": `{"at":5}`} {
		if _, err := f.Store().Create(t.Context(), worker.ClosingKey("m")+"/unable/"+name, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	_ = worker.Run(t.Context(), f.Driver, map[movement.Kind]worker.Lane{"count": blind{f.counter}},
		worker.Options{Name: "a", Movement: "m", Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	now, err := f.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := f.state()
	if all, err := worker.Inabilities(t.Context(), f.Driver, &m, now); err != nil || len(all) != 1 || all[0].Next != "give others" {
		t.Errorf("%+v %v", all, err)
	}
	f.tell(movement.Abort)
	f.run(t.Context(), 1)
	if left, err := f.Keys(t.Context(), "closing/"); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}
