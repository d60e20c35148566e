package worker_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestADamagedMovementEndsNoSlot: others are worked for, and what was kept for its end stays.
func TestADamagedMovementEndsNoSlot(t *testing.T) {
	f := newFleet(t)
	for key, value := range map[string]string{"movements/junk": "junk", "movements/newer": `{"schemaVersion":2}`, "closing/junk": `{}`, "closing/gone": `{}`} {
		if _, err := f.Store().Create(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		for ctx.Err() == nil && f.state().State != movement.Finished {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	lanes := map[movement.Kind]worker.Lane{"count": f.counter}
	if err := worker.Run(ctx, f.Driver, lanes, worker.Options{Name: "p", Slots: 2, Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Error(err)
	}
	if r := f.state(); r.State != movement.Finished {
		t.Errorf("it is %s", r.State)
	}
	if err := worker.TidyEnded(t.Context(), f.Driver); err != nil {
		t.Error(err)
	}
	if left, err := drive.Pieces[map[string]any](t.Context(), f.Driver, "closing/"); err != nil || len(left) != 1 || left["junk"] == nil {
		t.Errorf("%v %v", left, err)
	}
}

// TestWhoseRecordIsDamagedIsNotWorkedForOnAndOn: nobody could tell such a movement to stop.
func TestWhoseRecordIsDamagedIsNotWorkedForOnAndOn(t *testing.T) {
	f := newFleet(t)
	f.work = time.Hour
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		lanes := map[movement.Kind]worker.Lane{"count": f.counter}
		_ = worker.Run(ctx, f.Driver, lanes, worker.Options{Name: "p", Slots: 1, Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	}()
	for f.at.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	record, err := f.Store().Get(t.Context(), "movements/m")
	if err == nil {
		_, err = f.Store().Swap(t.Context(), record.Key, record.Revision, []byte("junk"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for f.at.Load() > 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Error("it is worked for after heartbeats have met the damaged record")
	}
	stop()
	<-done
}

// spoiler is a lane of which one turn for "m" meets that the record is changed: as it begins, or when all is done.
type spoiler struct {
	*counter
	late  bool
	spoil func()
}

func (s spoiler) Turn(ctx context.Context, slot worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	if m.ID == "m" && !s.late {
		s.spoil()
	}
	outcome, err := s.counter.Turn(ctx, slot, m, phase)
	if m.ID == "m" && s.late && outcome.Done {
		s.spoil()
	}
	return outcome, err
}

// TestARecordThatChangesWithinATurnEndsNoSlot: it is damaged, or set aside, while a slot works for the movement, which
// then has nobody to tell. Others are worked for all the same.
func TestARecordThatChangesWithinATurnEndsNoSlot(t *testing.T) {
	for name, change := range map[string]func(s coord.Store, r coord.Record) error{
		"damaged": func(s coord.Store, r coord.Record) error {
			_, err := s.Swap(t.Context(), r.Key, r.Revision, []byte("junk"))
			return err
		},
		"taken away": func(s coord.Store, r coord.Record) error { return s.Delete(t.Context(), r.Key, r.Revision) },
	} {
		for _, late := range []bool{false, true} {
			f := newFleet(t)
			other := f.state()
			other.ID = "n"
			if err := f.Plan(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			spoil := sync.OnceFunc(func() {
				record, err := f.Store().Get(t.Context(), "movements/m")
				if err == nil {
					err = change(f.Store(), record)
				}
				if err != nil {
					t.Error(err)
				}
			})
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			go func() {
				defer stop()
				for ctx.Err() == nil {
					_, err := f.Movement(ctx, "m")
					if n, _ := f.Movement(ctx, "n"); err != nil && n.State == movement.Finished {
						return
					}
					time.Sleep(time.Millisecond)
				}
			}()
			lanes := map[movement.Kind]worker.Lane{"count": spoiler{f.counter, late, spoil}}
			if err := worker.Run(ctx, f.Driver, lanes, worker.Options{Name: "p", Slots: 1, Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)}); err != nil {
				t.Errorf("%s, late %v: %v", name, late, err)
			}
			stop()
			if n, err := f.Movement(t.Context(), "n"); err != nil || n.State != movement.Finished {
				t.Errorf("%s, late %v: the other one is %s: %v", name, late, n.State, err)
			}
		}
	}
}
