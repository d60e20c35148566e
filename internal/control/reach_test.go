package control

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// TestNobodyAtAnAddressIsSaidSoon: a refused port and a host that is not known are errors in under 2 seconds.
func TestNobodyAtAnAddressIsSaidSoon(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c := New(Wiring{})
	for _, at := range []string{refused, "http://nosuch.invalid:9200"} {
		began := time.Now()
		_, err := c.target(t.Context(), at, false, 0, slog.New(slog.DiscardHandler))
		if took := time.Since(began); !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" || took > 2*time.Second {
			t.Errorf("%s, after %s: %v → %s", at, took, err, fault.Next(err))
		}
		if at == refused {
			began = time.Now()
			if _, err := c.openSource(t.Context(), at); !fault.Is(err, fault.Unavailable) || time.Since(began) > 2*time.Second {
				t.Errorf("as a source %s, after %s: %v", at, time.Since(began), err)
			}
		}
	}
}

// TestAnAddressIsNoFolder: HOST:PORT and URLs of what is no store are refused with what to write, as a repository and as a target.
func TestAnAddressIsNoFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	c := New(Wiring{})
	for _, at := range []string{"localhost:9200", "ftp://host/path"} {
		_, from := c.repository(t.Context(), at)
		_, to := c.target(t.Context(), at, true, 0, slog.New(slog.DiscardHandler))
		for _, err := range []error{from, to} {
			if !fault.Is(err, fault.Usage) || !strings.Contains(fault.Next(err), "http") && at == "localhost:9200" {
				t.Errorf("%s: %v → %s", at, err, fault.Next(err))
			}
		}
	}
}
