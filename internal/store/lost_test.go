package store_test

import (
	"log/slog"
	"strings"
	"testing"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// TestDocumentsOutliveALostCatalog: a catalog that is not there, or that is of before,
// removes no document that it knows nothing of.
func TestDocumentsOutliveALostCatalog(t *testing.T) {
	ctx := t.Context()
	old, c, e := coordmemory.New(), coordmemory.New(), shardmemory.New(shardmemory.Options{})
	if err := open(t, old, shardmemory.New(shardmemory.Options{})).Close(); err != nil { // a catalog without the index
		t.Fatal(err)
	}
	s := open(t, c, e)
	if err := put(ctx, s, "i", "1", `{}`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	quiet := store.Options{Logger: slog.New(slog.DiscardHandler)}
	for name, lost := range map[string]*coordmemory.Store{"none": coordmemory.New(), "an old one": old} {
		for range 2 { // the first try must not make the second possible
			if _, err := store.Open(ctx, lost, e, quiet); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "documents of index 1") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	s = open(t, c, e)
	defer s.Close()
	if found, err := s.Get(ctx, document.Read{Target: "i", ID: "1", Version: document.Unset}); err != nil || !found.Exists {
		t.Errorf("%+v, %v", found, err)
	}
}
