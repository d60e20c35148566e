package store_test

import (
	"errors"
	"strings"
	"testing"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// TestASearchSaysWhatItsShardsLack: what is shown is found, with the shard among those that failed,
// and not at all where nothing may be left out.
func TestASearchSaysWhatItsShardsLack(t *testing.T) {
	ctx := t.Context()
	e := &shardtest.Losing{Engine: shardmemory.New(shardmemory.Options{})}
	s, err := store.Open(ctx, coordmemory.New(), e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateIndex(ctx, "books", []byte(`{"settings":{"number_of_shards":2}}`)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		if err := put(ctx, s, "books", id, `{"a":1}`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Refresh(ctx, expression([]string{"books"}, searched)); err != nil {
		t.Fatal(err)
	}
	where := store.Where{Expression: catalog.Expression{Names: []string{"books"}}}
	ask := func() *store.Found {
		found, err := s.Find(ctx, where, search.NewRequest())
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		if found.Total != 6 || found.Shards != 2 {
			t.Errorf("%d documents are found in %d shards", found.Total, found.Shards)
		}
		return found
	}
	if found := ask(); len(found.Failed) > 0 {
		t.Errorf("%+v have failed", found.Failed)
	}
	e.Noted.Store(true)
	found := ask()
	if len(found.Failed) != 1 || found.Failed[0].Index != "books" || found.Failed[0].Shards != 1 || !strings.Contains(found.Failed[0].Cause.Error(), "there are ") {
		t.Errorf("%+v have failed", found.Failed)
	}
	where.Whole = true
	var phase *store.PhaseError
	if _, err := s.Find(ctx, where, search.NewRequest()); !errors.As(err, &phase) || !phase.Partial {
		t.Errorf("where nothing may be left out, it says %v", err)
	}
	p, err := s.Change(ctx, store.ByQuery{Where: where, Request: search.NewRequest(), Delete: true}, func(store.Progress) {})
	if err == nil || p.Deleted > 0 {
		t.Errorf("%d documents are deleted of those that were found: %v", p.Deleted, err)
	}
}
