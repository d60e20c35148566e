package coordtest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// Counting is a way to a server by HTTP that counts requests, and the bytes of bodies in both directions.
type Counting struct {
	Base http.RoundTripper

	requests, bytes atomic.Int64
}

// RoundTrip is http.RoundTripper's.
func (c *Counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	c.bytes.Add(max(0, r.ContentLength))
	response, err := c.Base.RoundTrip(r)
	if err == nil {
		response.Body = &countedBody{response.Body, &c.bytes}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

// Measure logs how long the calls of an adapter take, with records as work items have them, of 400 bytes;
// and what they cost on the way, which may be nil.
func Measure(t *testing.T, s coord.Store, way *Counting) {
	m := &meter{talk: &talk{T: t, store: s, ctx: t.Context()}, way: way}
	value := fmt.Sprintf(`{"creatorId":"worker-1","leaseHolderId":"worker-3","index":"logs","shard":0,"cursor":0,"counts":%0300q}`, "x")
	revisions := make([]int64, 10_000)
	key := func(i int) string { return fmt.Sprintf("movement/1/item/%05d", i) }
	m.measure("Create", 500, func(i int) { revisions[i] = m.creates(key(i), value) })
	for i := 500; i < len(revisions); i++ {
		revisions[i] = m.creates(key(i), value)
	}
	m.measure("Get", 500, func(i int) { m.has(key(i), value, revisions[i]) })
	m.measure("Swap", 500, func(i int) { revisions[i] = m.swaps(key(i), revisions[i], value) })
	m.measure("Swap, lost", 200, func(i int) {
		_, err := s.Swap(t.Context(), key(i), revisions[i]-2, nil)
		m.is(err, fault.Conflict)
	})
	m.measure("Delete", 100, func(i int) { m.deletes(key(9_899-i), revisions[9_899-i]) })
	m.measure("Now", 500, func(int) { _, err := s.Now(t.Context()); m.ok(err) })
	m.measure("Revision", 100, func(int) { m.revision() })
	list := func(prefix string, want int) func(int) {
		return func(int) {
			if listed, err := s.List(t.Context(), prefix); err != nil || len(listed) != want {
				t.Fatalf("%d records, %v; want %d", len(listed), err, want)
			}
		}
	}
	m.measure("List of 100", 100, list("movement/1/item/000", 100))
	m.measure("List of 9,900", 10, list("movement/1/item/", 9_900))
	at := m.revision()
	m.measure("Swap until a watch tells it", 20, func(i int) {
		revisions[i] = m.swaps(key(i), revisions[i], value)
		for event, err := range s.Watch(t.Context(), "", at) {
			m.ok(err)
			at = event.Revision
			break
		}
	})
}

type meter struct {
	*talk
	way *Counting
}

func (m *meter) measure(what string, times int, call func(i int)) {
	m.Helper()
	var requests, bytes int64
	if m.way != nil {
		requests, bytes = m.way.requests.Load(), m.way.bytes.Load()
	}
	took := make([]time.Duration, times)
	for i := range took {
		from := time.Now()
		call(i)
		took[i] = time.Since(from)
	}
	slices.Sort(took)
	cost := ""
	if m.way != nil {
		cost = fmt.Sprintf("; %.1f requests, %d bytes", float64(m.way.requests.Load()-requests)/float64(times), (m.way.bytes.Load()-bytes)/int64(times))
	}
	m.Logf("%-28s p50 %8s  p99 %8s%s", what, took[times/2].Round(10*time.Microsecond), took[times*99/100].Round(10*time.Microsecond), cost)
}
