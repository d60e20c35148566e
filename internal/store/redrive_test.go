package store_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// moving is an engine whose shards answer the next reads of documents as a shard does
// that has just got another epoch.
type moving struct {
	*shardmemory.Engine
	mu   sync.Mutex
	left int // reads that are stale
}

func (e *moving) Open(ctx context.Context, id shard.ID, p shard.Placements, settings shard.Settings) (shard.Shard, error) {
	sh, err := e.Engine.Open(ctx, id, p, settings)
	return &moved{sh, e}, err
}

type moved struct {
	shard.Shard
	engine *moving
}

func (m *moved) Get(ctx context.Context, epoch int64, ref shard.Ref) (shard.Row, bool, error) {
	m.engine.mu.Lock()
	defer m.engine.mu.Unlock()
	if m.engine.left > 0 {
		m.engine.left--
		return shard.Row{}, false, &shard.Stale{ID: m.ID(), Asked: epoch, Epoch: epoch + 1}
	}
	return m.Shard.Get(ctx, epoch, ref)
}

// TestNothingIsLostBesideAStaleUpdate: whatever an update finds stale, what stands before
// and behind it in the same bulk is written, or has its own error, and once.
func TestNothingIsLostBesideAStaleUpdate(t *testing.T) {
	ctx := t.Context()
	e := &moving{Engine: shardmemory.New(shardmemory.Options{})}
	s, err := store.Open(ctx, coordmemory.New(), e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := put(ctx, s, "i", "there", `{"a":1}`); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.left = 1
	e.mu.Unlock()
	change := func(id, doc, upsert string) document.Write {
		w := document.Write{Operation: document.Update, Target: "i", ID: id, Condition: document.Always, Change: &document.Change{Doc: []byte(doc)}}
		if upsert != "" {
			w.Change.Upsert = []byte(upsert)
		}
		return w
	}
	index := func(id string) document.Write {
		return document.Write{Target: "i", ID: id, Source: []byte(`{"a":2}`), Condition: document.Always}
	}
	written := s.Write(ctx, []document.Write{
		index("before"), change("there", `{"b":1}`, ""), change("missing", `{"b":1}`, ""), index("behind"), change("new", `{}`, `{"c":1}`),
	}, document.Eventually)
	for i, w := range written {
		if missing := i == 2; missing != exception.Is(w.Err, exception.DocumentMissing) || !missing && w.Err != nil {
			t.Errorf("item %d: %v", i, w.Err)
		}
		if w.Err == nil && (w.Version < 1 || w.PrimaryTerm < 1) {
			t.Errorf("item %d was answered and not written: %+v", i, w)
		}
	}
	for id, want := range map[string]string{"before": `{"a":2}`, "there": `{"a":1,"b":1}`, "missing": "", "behind": `{"a":2}`, "new": `{"c":1}`} {
		found, err := s.Get(ctx, document.Read{Target: "i", ID: id, Version: document.Unset})
		if err != nil || string(found.Source) != want || found.Exists && found.SeqNo > 4 {
			t.Errorf("%s: %s, %+v, %v, want %s", id, found.Source, found.Versions, err, want)
		}
	}
}

// TestAFieldIsAddedToTheIndexThatMissedIt, and not to another that has got its name while
// the write waited for its turn.
func TestAFieldIsAddedToTheIndexThatMissedIt(t *testing.T) {
	ctx := t.Context()
	s := newTalker(t).store
	done := make(chan struct{})
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				_, known := s.Catalog().Indices["i"]
				if !known {
					runtime.Gosched() // or it would be made by itself
					continue
				}
				_ = put(ctx, s, "i", "1", fmt.Sprintf(`{"f%d_%d":1}`, writer, i))
			}
		})
	}
	body := func(dynamic string) []byte {
		return []byte(`{"settings":{"mapping.total_fields.limit":100000},"mappings":{"dynamic":"` + dynamic + `","properties":{"a":{"type":"long"}}}}`)
	}
	if _, err := s.PutClusterSettings(ctx, []byte(`{"persistent":{"action.auto_create_index":"false"}}`)); err != nil {
		t.Fatal(err)
	}
	for round := range 50 {
		for _, dynamic := range []string{"true", "strict"} {
			if _, err := s.CreateIndex(ctx, "i", body(dynamic)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // for writers to meet it
			statuses, err := s.Status(ctx, expression([]string{"i"}, shown))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(statuses[0].Mapping); dynamic == "strict" && got != `{"dynamic":"strict","properties":{"a":{"type":"long"}}}` {
				t.Fatalf("round %d: the strict mapping is %s", round, got)
			}
			if err := s.DeleteIndices(ctx, expression([]string{"i"}, deleted)); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	wg.Wait()
}
