package drive_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// cutOff is a store that one process does not reach for a while.
type cutOff struct {
	coord.Store
	away atomic.Bool
}

func (c *cutOff) Get(ctx context.Context, key string) (coord.Record, error) {
	if c.away.Load() {
		return coord.Record{}, errLost
	}
	return c.Store.Get(ctx, key)
}

func (c *cutOff) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	if c.away.Load() {
		return 0, errLost
	}
	return c.Store.Swap(ctx, key, revision, value)
}

// unheard is a holder that stores a heartbeat or two, and is then cut off from the store while others
// are not.
func unheard(t *testing.T, beats int) (others *drive.Driver, store *cutOff, held *drive.Held[work.Lease, *work.Lease]) {
	t.Helper()
	store = &cutOff{Store: memory.New()}
	others = drive.New(store.Store, 0)
	if err := others.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	held, _, err := drive.Claim[work.Lease](t.Context(), drive.New(store, 0), "piece", "a", policy)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	for range beats {
		time.Sleep(policy.Heartbeat)
		if err := held.Beat(); err != nil || held.Context().Err() != nil {
			t.Fatal(err, held.Context().Err())
		}
	}
	store.away.Store(true)
	return others, store, held
}

// TestAHolderEndsBeforeOthersMayTakeItsLease: three missed heartbeats allow an early claim, so the
// work of a holder that cannot store any has ended by then, however long its lease would last.
func TestAHolderEndsBeforeOthersMayTakeItsLease(t *testing.T) {
	for _, beats := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			others, store, held := unheard(t, beats)
			go func() { _ = held.Beat() }() // tries until the lease ends
			for {
				taken, _, err := drive.Claim[work.Lease](t.Context(), others, "piece", "b", policy)
				if err != nil {
					t.Fatal(err)
				}
				if taken == nil {
					time.Sleep(time.Second)
					continue
				}
				if err := context.Cause(held.Context()); !fault.Is(err, fault.LostLease) {
					t.Errorf("b has the lease, and a goes on: %v", err)
				}
				piece := taken.Piece()
				if err := taken.Complete(); err != nil {
					t.Fatal(err)
				}
				done, err := drive.Read[work.Lease](t.Context(), others, "piece")
				if err != nil {
					t.Fatal(err)
				}
				// what a has sent in its last moment may come yet
				if end := piece.FormerUntil.Add(3 * policy.Heartbeat); done.Quiet(policy, end.Add(-1)) || !done.Quiet(policy, end) {
					t.Errorf("it is not quiet from %s on: %s", end, done)
				}
				break
			}
			store.away.Store(false)
			time.Sleep(time.Minute)
			if held.Complete() == nil {
				t.Error("a completes what b has done")
			}
		})
	}
}

// TestAHolderThatWasNotHeardOfGivesItsLeaseBack, when nobody has taken it: what the store was away
// for is no attempt.
func TestAHolderThatWasNotHeardOfGivesItsLeaseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others, store, held := unheard(t, 1)
		<-held.Context().Done()
		if held.Lost() != nil {
			t.Fatalf("the lease cannot be given back: %v", held.Lost())
		}
		store.away.Store(false)
		if err := held.Release(""); err != nil {
			t.Fatal(err)
		}
		if piece, err := drive.Read[work.Lease](t.Context(), others, "piece"); err != nil || piece.Attempts != 0 || piece.LeaseHolderID != "" {
			t.Errorf("%s %v", piece, err)
		}
	})
}
