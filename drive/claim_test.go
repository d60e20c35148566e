package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/work"
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
		held, _, err := drive.Claim[work.Lease](t.Context(), d, "piece", "w", work.Policy{InitialLease: 20 * time.Second, Heartbeat: time.Second, MaxAttempts: 3})
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
