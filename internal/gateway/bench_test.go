package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// sourceKB is a document of about 1 KB with 13 fields.
func sourceKB(i int) string {
	return fmt.Sprintf(`{"id":%d,"title":"The library that stays open while its shelves are rearranged","author":"author %d","year":%d,"isbn":"978-%010d",`+
		`"price":%d.50,"pages":%d,"language":"en","tags":["index","shard","split","merge"],"available":true,"shelf":{"room":%d,"row":"%c"},`+
		`"added":"2026-01-02T03:04:05Z","text":"%s"}`, i, i%97, 1900+i%120, i, i%90, 100+i%900, i%12, 'a'+rune(i%26), strings.Repeat("lorem ipsum dolor ", 30))
}

func bulkBody(items int) []byte {
	var body bytes.Buffer
	for i := range items {
		fmt.Fprintf(&body, "{\"index\":{\"_index\":\"books\",\"_id\":\"book-%d\"}}\n%s\n", i, sourceKB(i))
	}
	return body.Bytes()
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkBulk is a bulk of 1000 documents of 1 KB, all the way to a store in memory.
func BenchmarkBulk(b *testing.B) {
	s := newServer(b, Options{})
	body := bulkBody(1000)
	w := &discard{http.Header{}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/_bulk", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/x-ndjson")
		s.ServeHTTP(w, r)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/item")
}

// BenchmarkBulkParse is the share of it that reads the body.
func BenchmarkBulkParse(b *testing.B) {
	body := bulkBody(1000)
	var items bulk
	r := token.New(nil)
	b.ReportAllocs()
	for b.Loop() {
		items.clear()
		items.byURL, items.itemSize, items.most = action{guard: unguarded}, 1<<20, partItems
		if _, err := items.parse(r, body); err != nil || len(items.writes) != 1000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/item")
}

// BenchmarkGet is a get of a document of 1 KB without the network.
func BenchmarkGet(b *testing.B) {
	s := newServer(b, Options{})
	w := &discard{http.Header{}}
	put := httptest.NewRequest("PUT", "/books/_doc/1", strings.NewReader(sourceKB(1)))
	put.Header.Set("Content-Type", "application/json")
	s.ServeHTTP(w, put)
	r := httptest.NewRequest("GET", "/books/_doc/1", nil)
	b.ReportAllocs()
	for b.Loop() {
		s.ServeHTTP(w, r)
	}
}

// BenchmarkGetOverTheWire is the same through a real connection, client included.
func BenchmarkGetOverTheWire(b *testing.B) {
	s := newServer(b, Options{})
	put := httptest.NewRequest("PUT", "/books/_doc/1", strings.NewReader(sourceKB(1)))
	put.Header.Set("Content-Type", "application/json")
	s.ServeHTTP(httptest.NewRecorder(), put)
	server := httptest.NewServer(s)
	defer server.Close()
	b.ReportAllocs()
	for b.Loop() {
		answer, err := http.Get(server.URL + "/books/_doc/1")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}
