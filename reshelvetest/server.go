package reshelvetest

import (
	"log/slog"
	"testing"

	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// Server is a store that is being served. Safe for concurrent use.
type Server struct {
	URL string // "http://127.0.0.1:PORT", without a slash at its end
}

// Start serves an empty store until the test and its subtests have ended. It fails the test when the
// store cannot be opened or served.
func Start(t testing.TB) *Server {
	t.Helper()
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &Server{URL: gatewaytest.Serve(t, engine)}
}
