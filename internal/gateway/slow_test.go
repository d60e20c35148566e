package gateway

import (
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestAnnouncedBodiesKeepNobodyOut: who announces a large body and sends none of it holds
// no room for it.
func TestAnnouncedBodiesKeepNobodyOut(t *testing.T) {
	server := newServer(t, Options{InFlightBytes: 1 << 20})
	var slow sync.WaitGroup
	var senders []io.Closer
	defer func() {
		for _, sender := range senders {
			sender.Close()
		}
		slow.Wait()
	}()
	for range 100 {
		body, sender := io.Pipe()
		slow.Go(func() {
			r := httptest.NewRequest("PUT", "/held/_doc/slow", body)
			r.ContentLength = 1 << 20
			r.Header.Set("Content-Type", applicationJSON)
			server.ServeHTTP(httptest.NewRecorder(), r)
		})
		senders = append(senders, sender)
		if _, err := sender.Write([]byte("{")); err != nil { // has been read when it returns
			t.Fatal(err)
		}
	}
	w := putOne(server, `{}`)
	if w.Code != 201 {
		t.Errorf("a small write meanwhile: %d %s", w.Code, w.Body)
	}
}

// TestSmallRequestsAmongLargeOnes: what large requests hold leaves room for small ones.
func TestSmallRequestsAmongLargeOnes(t *testing.T) {
	server := newServer(t, Options{InFlightBytes: 1 << 20})
	server.inFlight.Add(1 << 20)
	defer server.inFlight.Add(-1 << 20)
	for body, status := range map[string]int{`{}`: 201, `{"pad":"` + strings.Repeat("x", little) + `"}`: 429} {
		w := putOne(server, body)
		if w.Code != status {
			t.Errorf("a body of %d bytes: %d %.200s, not %d", len(body), w.Code, w.Body, status)
		}
	}
}

func putOne(server *Server, body string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest("PUT", "/held/_doc/1", strings.NewReader(body)), httptest.NewRecorder()
	r.Header.Set("Content-Type", applicationJSON)
	server.ServeHTTP(w, r)
	return w
}
