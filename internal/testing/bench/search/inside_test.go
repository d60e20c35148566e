package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// inside is the store in this process, for profiles:
//
//	go test -run '^$' -bench Load -benchtime 200x -cpuprofile cpu.out ./internal/testing/bench/search
//	go test -run '^$' -bench Search -cpuprofile cpu.out ./internal/testing/bench/search
//	go tool pprof -top -tagfocus kind=bool cpu.out
func inside(b *testing.B, shards string) *gateway.Server {
	b.Helper()
	dir, quiet := b.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil))
	engine, err := embedded.Open(b.Context(), dir, embedded.Options{Memory: 64 << 20, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	records, err := local.Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), records, engine, store.Options{Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _, _ = s.Close(), engine.Close(), records.Close() })
	server := gateway.New(s, gateway.Options{})
	say(b, server, "PUT", "/"+peers.Index, []byte(strings.Replace(corpus.Index, `"number_of_shards":1`, `"number_of_shards":`+shards, 1)))
	return server
}

// say sends a request that has to succeed.
func say(b *testing.B, server http.Handler, method, path string, body []byte) {
	b.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	if w.Code != 200 || bytes.Contains(w.Body.Bytes(), []byte(`"errors":true`)) {
		b.Fatalf("%s %s: %d %.500s", method, path, w.Code, w.Body)
	}
}

// BenchmarkLoad is a bulk request of 1,000 documents, with its share of refreshes and
// merges.
func BenchmarkLoad(b *testing.B) {
	server := inside(b, "1")
	n := 0
	for b.Loop() {
		b.StopTimer()
		body := corpus.Bulk(n, n+1000)
		b.StartTimer()
		say(b, server, "POST", "/"+peers.Index+"/_bulk", body)
		n += 1000
	}
	say(b, server, "POST", "/"+peers.Index+"/_refresh", nil)
}

// BenchmarkSearch is each kind of search, of 100,000 documents in one shard, and in 64.
func BenchmarkSearch(b *testing.B) {
	for _, shards := range []string{"1", "64"} {
		b.Run(shards, func(b *testing.B) { searching(b, shards) })
	}
}

func searching(b *testing.B, shards string) {
	server := inside(b, shards)
	for n := 0; n < 100_000; n += 1000 {
		say(b, server, "POST", "/"+peers.Index+"/_bulk", corpus.Bulk(n, n+1000))
	}
	say(b, server, "POST", "/"+peers.Index+"/_refresh", nil)
	for _, k := range kinds(peers.Index, []string{""}) {
		if k.clients > 1 {
			continue
		}
		b.Run(strings.ReplaceAll(k.name, " ", "_"), func(b *testing.B) {
			i := 0
			pprof.Do(b.Context(), pprof.Labels("kind", k.name), func(context.Context) {
				for b.Loop() {
					head, body, _ := bytes.Cut(k.requests[i%len(k.requests)], []byte("\r\n\r\n"))
					say(b, server, "POST", strings.Fields(string(head))[1], body)
					i++
				}
			})
		})
	}
}
