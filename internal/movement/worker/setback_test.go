package worker_test

import (
	"context"
	"log/slog"
	"strings"
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

// behind is a store whose clock was set back after others have taken leases.
type behind struct {
	coord.Store
	by atomic.Int64
}

func (b *behind) Now(ctx context.Context) (coord.Time, error) {
	at, err := b.Store.Now(ctx)
	at.Behind = time.Duration(b.by.Load())
	return at, err
}

// TestWhatTimeIsWaitedForIsSaid: a slot that finds nothing to do while it cannot know whether a lease
// has ended shows why, logs it once, and spends no attempt of the piece.
func TestWhatTimeIsWaitedForIsSaid(t *testing.T) {
	f := newFleet(t)
	const key = "movement/m/phase/one"
	if err := f.Make(t.Context(), key, work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	held, _, err := drive.Claim[work.Lease](t.Context(), f.Driver, key, "dead", policy)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	store := &behind{Store: f.Store()}
	store.by.Store(int64(time.Hour))
	var log strings.Builder
	board := &worker.Board{}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, drive.New(store, 0), map[movement.Kind]worker.Lane{"count": f.counter}, worker.Options{
			Name: "p", Slots: 1, Movement: "m", Pause: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil)), Board: board})
	}()
	for shown := ""; !strings.Contains(shown, "set back"); time.Sleep(time.Millisecond) {
		for _, slot := range board.Slots() {
			shown = slot.Error
		}
		if ctx.Err() != nil {
			t.Fatalf("the slot shows %q", shown)
		}
	}
	time.Sleep(50 * time.Millisecond) // some more turns
	stop()
	if err := <-done; err != nil && !fault.Is(err, fault.Interrupted) {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "set back"); n != 1 {
		t.Errorf("it is logged %d times:\n%s", n, &log)
	}
	if piece, err := drive.Read[work.Lease](t.Context(), f.Driver, key); err != nil || piece.Attempts != 1 || piece.LeaseHolderID != "dead" {
		t.Errorf("%s %v", piece, err)
	}
	_ = held.Release("")
}
