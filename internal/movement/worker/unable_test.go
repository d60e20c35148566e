package worker_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// blind is a lane of a worker that cannot read what is to be moved.
type blind struct {
	*counter
}

func (blind) Turn(context.Context, worker.Slot, *movement.Record, *movement.Phase) (worker.Outcome, error) {
	err := fault.New(fault.Unauthorised, "the bucket does not know these credentials")
	return worker.Outcome{}, worker.Unable(fault.WithNext(err, "give others"))
}

// TestAWorkerThatCannotHelp says so, holds nothing up, and leaves the work to others.
func TestAWorkerThatCannotHelp(t *testing.T) {
	f := newFleet(t)
	var log strings.Builder
	options := worker.Options{Name: "blind", Once: true, Pause: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	err := worker.Run(t.Context(), f.Driver, map[movement.Kind]worker.Lane{"count": blind{f.counter}}, options)
	if !fault.Is(err, fault.Unauthorised) || fault.Next(err) != "give others" {
		t.Errorf("alone, it ends with %v", err)
	}
	if n := strings.Count(log.String(), "does not know these credentials"); n != 1 {
		t.Errorf("it says so %d times:\n%s", n, log.String())
	}
	if r := f.state(); r.State != movement.Running || r.Cause != "" {
		t.Errorf("the movement is %s: %s", r.State, r.Cause)
	}
	f.run(t.Context(), 1)
	if r := f.state(); r.State != movement.Finished {
		t.Errorf("others come to %s: %s", r.State, r.Cause)
	}
}

// TestTheBoard shows what slots do, and what they have done.
func TestTheBoard(t *testing.T) {
	f, board := newFleet(t), &worker.Board{}
	var seen []worker.Doing
	f.fails = func(key string, _ int) error {
		if key == "one" {
			seen = board.Slots()
		}
		return nil
	}
	err := worker.Run(t.Context(), f.Driver, map[movement.Kind]worker.Lane{"count": f.counter},
		worker.Options{Name: "w", Once: true, Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler), Board: board})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Slot != "w-0" || seen[0].Movement != "m" || seen[0].Phase != "one" || seen[0].Piece != "phase/one" || seen[0].Since.IsZero() {
		t.Errorf("at work: %+v", seen)
	}
	if end := board.Slots(); len(end) != 1 || !end[0].Ended || end[0].Movement != "" {
		t.Errorf("at the end: %+v", end)
	}
	if touched := board.Touched(); len(touched) != 1 || touched[0] != "m" {
		t.Errorf("touched: %v", touched)
	}
}

// TestANewerRecordIsLeftAlone by a worker of an older release: it does not hold the movement.
func TestANewerRecordIsLeftAlone(t *testing.T) {
	f := newFleet(t)
	if err := f.Make(t.Context(), "movement/m/phase/one", map[string]any{"schemaVersion": 2}); err != nil {
		t.Fatal(err)
	}
	err := worker.Run(t.Context(), f.Driver, map[movement.Kind]worker.Lane{"count": f.counter},
		worker.Options{Name: "old", Once: true, Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("it ends with %v", err)
	}
	if r := f.state(); r.State != movement.Running {
		t.Errorf("the movement is %s: %s", r.State, r.Cause)
	}
}
