package worker_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// hindered is a lane whose end fails some times, as on a disk that is full for a while.
type hindered struct {
	*counter
	kind  fault.Kind
	times atomic.Int64
}

func (h *hindered) Undo(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	return worker.Closing(ctx, s, m, policy, func(ctx context.Context, reported string) error {
		if left := h.times.Add(-1); left >= 0 {
			return fault.New(h.kind, "there is no space: %d times more", left)
		}
		return s.Driver.Make(ctx, reported, map[string]string{})
	})
}

// TestAnEndIsTriedAsOftenAsItTakes: more often than a piece may be, whatever the cause; and until
// then the movement says why.
func TestAnEndIsTriedAsOftenAsItTakes(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Unavailable, fault.Refused} {
		t.Run(kind.String(), func(t *testing.T) { endsOnce(t, kind) })
	}
}

func endsOnce(t *testing.T, kind fault.Kind) {
	f := newFleet(t)
	f.tell(movement.Abort)
	lane := &hindered{counter: f.counter, kind: kind}
	lane.times.Store(int64(3 * policy.MaxAttempts))
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(t.Context(), f.Driver, map[movement.Kind]worker.Lane{"count": lane}, worker.Options{
			Name: "p", Slots: 1, Movement: "m", Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	}()
	said := map[string]bool{}
	for {
		select {
		case err := <-done:
			if r := f.state(); err != nil || r.State != movement.Aborted || len(said) == 0 {
				t.Errorf("%v: it is %s, and said %v", err, r.State, said)
			}
			return
		case <-time.After(time.Millisecond):
			if r := f.state(); r.State != movement.Aborted && r.Cause != "" {
				said[r.Cause] = true
			}
		}
	}
}

// overtaken is a store in which somebody else is faster, right after a record was made.
type overtaken struct {
	coord.Store
	by func(key string)
}

func (o *overtaken) Create(ctx context.Context, key string, value []byte) (int64, error) {
	revision, err := o.Store.Create(ctx, key, value)
	if err == nil {
		o.by(key)
	}
	return revision, err
}

// TestAnEndIsDoneByOne: who has made the piece of an end, and was overtaken in claiming it, does not
// take it from who holds it, or a third would end the movement beside.
func TestAnEndIsDoneByOne(t *testing.T) {
	f := newFleet(t)
	f.tell(movement.Abort)
	m := f.state()
	store := &overtaken{f.Store(), func(key string) {
		if held, _, err := drive.Claim[work.Lease](t.Context(), f.Driver, key, "faster", policy); err != nil || held == nil {
			t.Errorf("%s was not claimed: %v", key, err)
		}
	}}
	slow := worker.Slot{Driver: drive.New(store, 0), Worker: "slower", Logger: slog.New(slog.DiscardHandler)}
	for range 2 {
		outcome, err := worker.Closing(t.Context(), slow, &m, policy, func(context.Context, string) error {
			t.Error("two end the movement")
			return nil
		})
		if err != nil || outcome.Done || outcome.Worked {
			t.Errorf("%+v %v", outcome, err)
		}
	}
	lease, err := drive.Read[work.Lease](t.Context(), f.Driver, worker.ClosingKey("m"))
	if err != nil || lease.LeaseHolderID != "faster" {
		t.Errorf("it is held by %q: %v", lease.LeaseHolderID, err)
	}
}
