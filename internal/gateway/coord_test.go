package gateway

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/coord/remote"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestACoordinationStoreIsOfferedBesideTheAPI: a watch outlives the server's
// time-outs, which are for requests, and ends when the server is shut down.
func TestACoordinationStoreIsOfferedBesideTheAPI(t *testing.T) {
	records := coord.New()
	const timeout = 100 * time.Millisecond
	server := newServer(t, Options{BodyTimeout: timeout}).HTTP()
	Offer(server, remote.Root, remote.NewHandler(records))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	address := "http://" + listener.Addr().String()
	s, err := remote.Open(t.Context(), remote.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), "_search/a b", []byte("v")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/": 200, "/_reshelve/coordination": 400, remote.Root: 200} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, response.StatusCode, want)
		}
	}
	began := time.Now()
	var ended error
	for event, err := range s.Watch(t.Context(), "", 0) {
		switch {
		case err != nil:
			ended = err
		case event.Key == "_search/a b":
			time.AfterFunc(5*timeout, func() { _, _ = records.Create(context.Background(), "later", nil) })
		case event.Key == "later":
			if time.Since(began) < 3*timeout {
				t.Errorf("it came after %v: this was no trial", time.Since(began))
			}
			go func() { _ = server.Shutdown(context.Background()) }()
		}
	}
	if !fault.Is(ended, fault.Unavailable) {
		t.Errorf("the watch ended with %v", ended)
	}
	<-served
}
