package store_test

import (
	"context"
	"testing"

	coordmemory "github.com/reshelve/reshelve/coord/memory"
	shardmemory "github.com/reshelve/reshelve/shard/memory"
	"github.com/reshelve/reshelve/store"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	s, err := store.Open(ctx, coordmemory.New(), shardmemory.New(shardmemory.Options{}), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if c, err := s.CreateIndex(ctx, "books", nil); err != nil {
		t.Fatal(c, err)
	}
	if c, err := s.CreateIndex(ctx, "books", nil); err == nil {
		t.Fatal(c, err)
	} else {
		t.Log(err)
	}
}
