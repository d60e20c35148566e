package cluster_test

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// TestAPortThatWantsTLS is named as that at once, whether the server closes a connection without TLS, as OpenSearch
// does, or answers to it, as Go does.
func TestAPortThatWantsTLS(t *testing.T) {
	answering := httptest.NewUnstartedServer(http.NotFoundHandler())
	answering.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	answering.StartTLS()
	defer answering.Close()
	closing, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: answering.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closing.Close() }()
	go func() {
		for {
			conn, err := closing.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	for what, address := range map[string]string{"answering": strings.TrimPrefix(answering.URL, "https://"), "closing": closing.Addr().String()} {
		began := time.Now()
		_, err := cluster.Open(t.Context(), cluster.Options{URL: "http://" + address, Soon: time.Second, Silence: 10 * time.Second})
		if !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "https://") {
			t.Errorf("%s: %v → %s", what, err, fault.Next(err))
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %s", what, took)
		}
	}
}
