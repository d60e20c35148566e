package proof

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestHistoriesWhileShardsMove has clients write, read and search in this process, for the race
// detector's sake, while shards are split, merged, led back and given up all the time, and an
// auditor looks at all keys. What they saw must have one order.
func TestHistoriesWhileShardsMove(t *testing.T) {
	lives, s := number(t, "PROOF_MOVING_LIVES", 2), seed(t)
	b := newTable(t)
	m, url := newMover(t, b, s), serveInside(t)
	b.lay(url)
	for life := range lives {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		wait := b.live(ctx, url, 8*life, s)
		b.moveAndAudit(m, 8*life, s)(ctx, url)
		wait()
		cancel()
	}
	m.settle(t.Context(), url)
	b.agreeAll(url, 8*lives, s)
	b.history.died(b.history.now())
	b.history.check(t, minimumAge)
	t.Logf("%d requests; %d movements were begun, and ended so: %v", len(b.history.done), m.begun, m.ended)
	if m.ended["finished"] == 0 {
		t.Errorf("%d movements were begun, and ended so: %v", m.begun, m.ended)
	}
}

// moveAndAudit is what is done beside the clients.
func (b *table) moveAndAudit(m *mover, life int, seed uint64) func(context.Context, string) {
	return func(ctx context.Context, url string) {
		var auditing sync.WaitGroup
		auditing.Go(func() { b.auditing(ctx, url, life, seed) })
		m.run(ctx, url)
		auditing.Wait()
	}
}

// serveInside serves a new folder in this process.
func serveInside(t *testing.T) (url string) {
	t.Helper()
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return gatewaytest.Serve(t, engine)
}
