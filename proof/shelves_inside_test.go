package proof

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/control"
	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/gateway"
	"github.com/reshelve/reshelve/shard/embedded"
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
	c := control.New(control.Wiring{
		Folder: func(context.Context, string, control.FolderOptions) (control.Folder, error) {
			return control.Folder{Coord: memory.New(), Engine: engine}, nil
		},
		Face: func(s *control.Store, _ control.Limits, _ coord.Store) *http.Server {
			return gateway.New(s, gateway.Options{}).HTTP()
		},
		Steer: gateway.OfferMovements,
	})
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- c.Serve(ctx, control.ServeRequest{Data: t.TempDir(), Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)},
			func(s control.Serving) { ready <- s.Address })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return url
}
