package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

func TestOwnStoreTakesAndGivesBackEveryDocument(t *testing.T) {
	roundTrip(t, ownStore(t), "books", 20_000)
}

// TestLiveSharedTakesAndGivesBackEveryDocument asks the server at RESHELVE_LIVE_AT.
func TestLiveSharedTakesAndGivesBackEveryDocument(t *testing.T) {
	at := os.Getenv("RESHELVE_LIVE_AT")
	if at == "" {
		t.Skip("RESHELVE_LIVE_AT names a real server")
	}
	c, err := cluster.Open(t.Context(), cluster.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, c, "clu-books", 20_000)
}

// roundTrip writes documents and reads them back by slices, in the middle by
// resumed ones.
func roundTrip(t *testing.T, c *cluster.Client, index string, n int) {
	t.Helper()
	ctx := t.Context()
	_, _ = c.Do(ctx, "DELETE", []string{index}, nil, nil)
	if _, err := c.Do(ctx, "PUT", []string{index}, nil, []byte(`{"settings":{"number_of_shards":3,"number_of_replicas":0}}`)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Do(context.WithoutCancel(ctx), "DELETE", []string{index}, nil, nil) })
	want := load(t, c, index, n)
	count, err := c.Count(ctx, index)
	if err != nil || count != int64(n) {
		t.Fatalf("%d documents: %v", count, err)
	}
	for _, slices := range []int{1, 2, 6} {
		got := scanAll(t, c, index, slices)
		if len(got) != len(want) {
			t.Errorf("%d slices: %d documents, want %d", slices, len(got), len(want))
		}
		for id, doc := range want {
			if got[id] != doc {
				t.Fatalf("%d slices: document %q is %q, want %q", slices, id, got[id], doc)
			}
		}
	}
}

// load writes n documents, and returns what a scan must give.
func load(t *testing.T, c *cluster.Client, index string, n int) map[string]string {
	t.Helper()
	w, err := c.NewWriter(t.Context(), cluster.WriterOptions{MaxDocs: 1000, Concurrency: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	var mu sync.Mutex
	var done sync.WaitGroup
	acknowledged := 0
	batch := &cluster.Batch{}
	send := func() {
		done.Add(1)
		if err := w.Start(t.Context(), batch, func(r cluster.Result, err error) {
			defer done.Done()
			mu.Lock()
			defer mu.Unlock()
			acknowledged += r.Acknowledged
			if err != nil || len(r.Conflicts)+len(r.Failed)+r.Unknown > 0 {
				t.Errorf("%+v %v", r, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		batch = &cluster.Batch{}
	}
	for i := range n {
		op := cluster.Op{Index: index, ID: fmt.Appendf(nil, "%d \"é\x01/%%", i), Version: int64(i + 7), Source: fmt.Appendf(nil, "{\"n\":%d,\n \"t\":\"l\\nine\"}", i)}
		if i%3 == 0 {
			op.Routing = fmt.Appendf(nil, "r %d", i%5)
		}
		want[string(op.ID)] = fmt.Sprintf("%s %d {\"n\":%d,  \"t\":\"l\\nine\"}", op.Routing, op.Version, i)
		if !w.Room(batch, &op) {
			send()
		}
		if err := batch.Add(op); err != nil {
			t.Fatal(err)
		}
	}
	send()
	done.Wait()
	if acknowledged != n {
		t.Fatalf("%d acknowledged", acknowledged)
	}
	return want
}

func scanAll(t *testing.T, c *cluster.Client, index string, slices int) map[string]string {
	t.Helper()
	scan, err := c.OpenScan(t.Context(), index, cluster.ScanOptions{Slices: slices, PageBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range scan.Slices() {
		slice := scan.Slice(i, "")
		for n := 0; ; n++ {
			doc, err := slice.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("slice %d: %v", i, err)
			}
			if _, twice := got[string(doc.ID)]; twice {
				t.Fatalf("%q comes twice", doc.ID)
			}
			got[string(doc.ID)] = fmt.Sprintf("%s %d %s", doc.Routing, doc.Versions.Version, doc.Source)
			if n == 500 && slice.Cursor() != "" { // somebody else goes on
				if scan, err = c.ResumeScan(t.Context(), scan.State(), cluster.ScanOptions{PageBytes: 64 << 10}); err != nil {
					t.Fatal(err)
				}
				if err := scan.Renew(t.Context()); err != nil {
					t.Fatal(err)
				}
				slice = scan.Slice(i, slice.Cursor())
			}
		}
	}
	if err := scan.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := scan.Renew(t.Context()); !fault.Is(err, fault.Stale) && scan.State().Point != "" {
		t.Errorf("a point in time that was ended lives on: %v", err)
	}
	return got
}
