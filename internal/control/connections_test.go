package control

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestConnectionsAreBounded: one more than may be open waits until another is closed, and for no longer than the
// server listens.
func TestConnectionsAreBounded(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(newBounded(plain, 2)) }()
	ask := func(client *http.Client) error {
		answer, err := client.Get("http://" + plain.Addr().String())
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	clients := make([]*http.Client, 4)
	for i := range clients {
		clients[i] = &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	}
	for range 3 { // by the connections that they keep
		for _, client := range clients[:2] {
			if err := ask(client); err != nil {
				t.Fatal(err)
			}
		}
	}
	third := make(chan error, 1)
	go func() { third <- ask(clients[2]) }()
	select {
	case err := <-third:
		t.Fatalf("the third is let in: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	clients[0].CloseIdleConnections()
	if err := <-third; err != nil {
		t.Errorf("the third, when the first has left: %v", err)
	}
	fourth := make(chan error, 1)
	go func() { fourth <- ask(clients[3]) }()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if err := <-fourth; err == nil {
		t.Error("the fourth is answered by a server that is closed")
	}
}

// TestConnectionsLeaveFilesToTheStore: a process that may open few files has fewer connections.
func TestConnectionsLeaveFilesToTheStore(t *testing.T) {
	for files, want := range map[int]int{0: 4096, 1: 1, 64: 32, 1024: 512, 1 << 20: 4096} {
		if n := connectionsFor(files); n != want {
			t.Errorf("%d files: %d connections, not %d", files, n, want)
		}
	}
}
