package store_test

import (
	"context"
	"log/slog"
	"testing"

	coordmemory "github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/fault"
	shardmemory "github.com/reshelve/reshelve/shard/memory"
	"github.com/reshelve/reshelve/store"
)

// full is an engine on a full disk: it reads, and removes nothing.
type full struct{ *shardmemory.Engine }

func (full) Drop(context.Context, uint32) error {
	return fault.New(fault.Unavailable, "the disk is full")
}

// TestAFullDiskDoesNotKeepAStoreShut: what a deleted index left on a full disk keeps
// nobody from reading the others, and goes when it can.
func TestAFullDiskDoesNotKeepAStoreShut(t *testing.T) {
	ctx := t.Context()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	onFullDisk := func(use func(*store.Store)) {
		t.Helper()
		s, err := store.Open(ctx, c, full{e}, store.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		use(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	onFullDisk(func(s *store.Store) {
		for _, index := range []string{"kept", "gone"} {
			if err := put(ctx, s, index, "1", `{}`); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.DeleteIndices(ctx, expression([]string{"gone"}, deleted)); err != nil {
			t.Fatal(err)
		}
	})
	onFullDisk(func(s *store.Store) {
		if indices, documents := s.Holds(); indices != 1 || documents != 1 {
			t.Errorf("%d documents in %d indices", documents, indices)
		}
		if held, err := e.Indices(ctx); err != nil || len(held) != 2 {
			t.Fatalf("%v %v: nothing was left over", held, err)
		}
	})
	s := open(t, c, e)
	defer s.Close()
	clean(t, c, e, "on a disk with space")
}
