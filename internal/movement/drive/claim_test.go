package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// slowToRead is a store whose Get takes its time.
type slowToRead struct{ coord.Store }

func (s slowToRead) Get(ctx context.Context, key string) (coord.Record, error) {
	time.Sleep(5 * time.Second)
	return s.Store.Get(ctx, key)
}

// TestAContextNeverOutlivesItsLease, however long the claim itself took.
func TestAContextNeverOutlivesItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive.New(slowToRead{memory.New()}, 0)
		if err := d.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
			t.Fatal(err)
		}
		held, _, err := drive.Claim[work.Lease](t.Context(), d, "piece", "w", work.Policy{InitialLease: 20 * time.Second, Heartbeat: 6 * time.Second, MaxAttempts: 3})
		if err != nil || held == nil {
			t.Fatal(held, err)
		}
		piece := held.Piece()
		time.Sleep(time.Until(piece.Expiration))
		synctest.Wait()
		if held.Lost() == nil {
			t.Error("the lease has ended, and its context has not")
		}
	})
}

// lateClock is a store whose clock is asked as by a process that stands still before its
// question leaves it.
type lateClock struct{ coord.Store }

func (s lateClock) Now(ctx context.Context) (coord.Time, error) {
	time.Sleep(8 * time.Second)
	return s.Store.Now(ctx)
}

// TestALeaseIsNotTakenByALateClock: when in all that time the store has said what it said, nobody
// knows, so it has perhaps not ended.
func TestALeaseIsNotTakenByALateClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := work.Policy{InitialLease: time.Minute, MaxAttempts: 3}
		store := memory.New()
		d, late := drive.New(store, 0), drive.New(lateClock{store}, 0)
		if err := d.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
			t.Fatal(err)
		}
		held, _, err := drive.Claim[work.Lease](t.Context(), d, "piece", "w1", p)
		if err != nil || held == nil {
			t.Fatal(held, err)
		}
		end := held.Piece()
		time.Sleep(33 * time.Second)
		taken, _, err := drive.Claim[work.Lease](t.Context(), late, "piece", "w2", p)
		if err != nil || taken != nil || !time.Now().Before(end.Expiration) {
			t.Errorf("it is taken %s before its end: %v", time.Until(end.Expiration), err)
		}
		time.Sleep(time.Until(end.Expiration.Add(8 * time.Second)))
		if taken, _, err = drive.Claim[work.Lease](t.Context(), late, "piece", "w2", p); err != nil || taken == nil {
			t.Errorf("it has ended, and is not taken: %v", err)
		} else if err := taken.Release(""); err != nil {
			t.Error(err)
		}
	})
}

// TestAPieceThatHasEndedIsNotWritten by a claim of it: nobody holds it.
func TestAPieceThatHasEndedIsNotWritten(t *testing.T) {
	p := work.Policy{InitialLease: time.Minute, MaxAttempts: 1}
	for _, state := range []work.State{work.Failed, work.Done} {
		store := memory.New()
		d := drive.New(store, 0)
		if err := d.Make(t.Context(), "piece", work.Lease{CreatorID: "w", State: state, Cause: "no attempt can do it"}); err != nil {
			t.Fatal(err)
		}
		before, err := store.Get(t.Context(), "piece")
		if err != nil {
			t.Fatal(err)
		}
		held, piece, err := drive.Claim[work.Lease](t.Context(), d, "piece", "w", p)
		if held != nil || err != nil || piece.State != state {
			t.Errorf("%s: claimed as %+v: %v", state, piece, err)
		}
		if after, err := store.Get(t.Context(), "piece"); err != nil || after.Revision != before.Revision {
			t.Errorf("%s: the claim has written it, in revision %d after %d: %v", state, after.Revision, before.Revision, err)
		}
	}
}
