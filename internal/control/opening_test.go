package control

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/door"
	"github.com/reshelve/reshelve/internal/store"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// failing is a listener of which some calls of Accept fail, as they do while the process has too many files open.
type failing struct {
	net.Listener
	fails atomic.Int64 // so many more
}

func (f *failing) Accept() (net.Conn, error) {
	if f.fails.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: f.Addr(), Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

// TestAStoreOutlivesAFailedAccept: before its folder is open, and when it is served.
func TestAStoreOutlivesAFailedAccept(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := &failing{Listener: tcp}
	listener.fails.Store(1)
	gate := make(chan struct{})
	c := New(Wiring{
		Folder: func(context.Context, string, FolderOptions) (Folder, error) {
			<-gate
			return Folder{Coord: coordmemory.New(), Engine: shardmemory.New(shardmemory.Options{})}, nil
		},
		Front: func(FaceOptions) *http.Server { return &http.Server{ReadHeaderTimeout: time.Minute} },
		Face: func(*store.Store, FaceOptions, coord.Store) *http.Server {
			return &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })}
		},
	})
	d, err := door.New(door.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		req := ServeRequest{Data: filepath.Join(t.TempDir()), Logger: slog.New(slog.DiscardHandler)}
		ended <- c.serveOn(ctx, c, req, newBounded(listener, 2), d, func(Serving) { close(ready) })
	}()
	ask := func(want int) {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
		answer, err := client.Get("http://" + tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != want {
			t.Errorf("%d, not %d", answer.StatusCode, want)
		}
	}
	ask(http.StatusServiceUnavailable)
	close(gate)
	<-ready
	for range 3 {
		listener.fails.Store(3)
		ask(http.StatusOK) // accepted already, perhaps
		ask(http.StatusOK)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
