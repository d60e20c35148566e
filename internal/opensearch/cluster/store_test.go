package cluster_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// ownStore is a client of Reshelve's own store in this process.
func ownStore(t testing.TB) *cluster.Client {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Memory: 64 << 20, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), coord.New(), engine, store.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gateway.New(s, gateway.Options{}))
	address := server.Listener.Addr().String()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}
	c, err := cluster.Open(t.Context(), cluster.Options{Transport: transport, Place: "our own store"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		transport.CloseIdleConnections()
		server.Close()
		_ = s.Close()
		_ = engine.Close()
	})
	return c
}
