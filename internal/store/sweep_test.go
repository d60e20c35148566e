package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
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

// meeting lets removals begin to wait for each other: none ends before all have begun.
type meeting struct {
	missing sync.WaitGroup
	alone   atomic.Int64 // that have waited in vain
}

func (m *meeting) meet() {
	m.missing.Done()
	all := make(chan struct{})
	go func() { m.missing.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(5 * time.Second):
		m.alone.Add(1)
	}
}

type meetingEngine struct {
	shard.Engine
	*meeting
}

func (m meetingEngine) Drop(ctx context.Context, index uint32) error {
	m.meet()
	return m.Engine.Drop(ctx, index)
}

type meetingRecords struct {
	coord.Store
	*meeting
}

func (m meetingRecords) Delete(ctx context.Context, key string, revision int64) error {
	m.meet()
	return m.Store.Delete(ctx, key, revision)
}

// TestLeftoversAreRemovedTogether at a start: engine and coordination store sync once for those that come together, and
// alone each would take a sync of its own.
func TestLeftoversAreRemovedTogether(t *testing.T) {
	ctx := t.Context()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	s, err := store.Open(ctx, c, full{e}, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	const indices = 20
	for i := range indices {
		if err := put(ctx, s, fmt.Sprint(i), "1", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.DeleteIndices(ctx, expression([]string{"*"}, deleted)), s.Close()); err != nil {
		t.Fatal(err)
	}
	m := &meeting{}
	m.missing.Add(3 * indices) // the rows and two records of each
	s, err = store.Open(ctx, meetingRecords{c, m}, meetingEngine{e, m}, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil || m.alone.Load() > 0 {
		t.Fatal(err, m.alone.Load())
	}
	defer s.Close()
	clean(t, c, e, "after the start")
}
