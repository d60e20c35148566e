package store_test

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// TestTallies: what the store itself does is counted, shard by shard, and a change of mapping or
// settings forgets nothing of it.
func TestTallies(t *testing.T) {
	r := newReading(t)
	books := expression([]string{"books"}, searched)
	found := func(where store.Where) {
		t.Helper()
		f, err := r.Find(t.Context(), where, search.NewRequest())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	found(store.Where{Expression: books})
	found(store.Where{Point: r.point()})
	if _, _, err := r.Count(t.Context(), store.Where{Expression: books}, nil); err != nil {
		t.Fatal(err)
	}
	found(store.Where{Expression: books, Routing: "x"}) // one shard
	if _, err := r.Find(t.Context(), store.Where{Expression: expression([]string{"none"}, searched)}, search.NewRequest()); err == nil {
		t.Error("an index that is not there was searched")
	}
	for _, write := range []document.Write{change("1", `{}`, ""), change("1", `{"a":1}`, ""), change("1", `{"a":1}`, "")} {
		if done := r.Write(t.Context(), []document.Write{write}, document.Eventually)[0]; done.Err != nil {
			t.Fatal(done.Err)
		}
	}
	if _, err := r.Flush(t.Context(), books); err != nil {
		t.Fatal(err)
	}
	if err := r.PutMapping(t.Context(), books, []byte(`{"properties":{"b":{"type":"long"}}}`), false); err != nil {
		t.Fatal(err)
	}
	if err := r.PutSettings(t.Context(), books, []byte(`{"index.refresh_interval":"1h"}`), false); err != nil {
		t.Fatal(err)
	}
	status, err := r.Status(t.Context(), books)
	if err != nil || len(status) != 1 || len(status[0].Shards) != 2 {
		t.Fatal(status, err)
	}
	var all catalog.ShardStatus
	for _, sh := range status[0].Shards {
		if sh.Flushes != 1 || sh.Searches < 3 || sh.Searching <= 0 || sh.Searching > time.Minute {
			t.Errorf("shard %d: %+v", sh.Number, sh)
		}
		all.Searches += sh.Searches
		all.Noops += sh.Noops
	}
	if all.Searches != 7 || all.Noops != 2 {
		t.Errorf("%d searches and %d updates that changed nothing are counted", all.Searches, all.Noops)
	}
}
