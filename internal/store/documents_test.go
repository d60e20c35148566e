package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// library is a store whose shards a test can reach behind its back.
type library struct {
	*store.Store
	records coord.Store
	shelves *shelves
}

// shelves remembers the shards that are opened.
type shelves struct {
	shard.Engine
	mu     sync.Mutex
	opened map[shard.ID]shard.Shard
}

func (e *shelves) Open(ctx context.Context, id shard.ID, p shard.Placements, s shard.Settings) (shard.Shard, error) {
	opened, err := e.Engine.Open(ctx, id, p, s)
	if err == nil {
		e.mu.Lock()
		e.opened[id] = opened
		e.mu.Unlock()
	}
	return opened, err
}

type tester interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Helper()
	Cleanup(f func())
}

func newLibrary(t tester, body string) *library {
	t.Helper()
	l := &library{records: coordmemory.New(), shelves: &shelves{Engine: shardmemory.New(shardmemory.Options{}), opened: map[shard.ID]shard.Shard{}}}
	var err error
	if l.Store, err = store.Open(context.Background(), l.records, l.shelves, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := l.CreateIndex(context.Background(), "books", []byte(body)); err != nil {
		t.Fatal(err)
	}
	return l
}

// move gives every shard of the index a new epoch, as a movement does, and tells
// the shards but not the store.
func (l *library) move(t tester) {
	t.Helper()
	ctx := context.Background()
	number := l.Catalog().Indices["books"].Number
	_, err := coord.Update(ctx, l.records, fmt.Sprintf("placement/%d", number), func(value []byte) ([]byte, error) {
		p, err := placement.Decode(value)
		if err != nil {
			return nil, err
		}
		p.Version++
		p.Shards = slices.Clone(p.Shards)
		for i := range p.Shards {
			p.Shards[i].Epoch, p.Shards[i].Term = p.Version, p.Shards[i].Term+1
		}
		return p.Encode(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l.shelves.mu.Lock()
	defer l.shelves.mu.Unlock()
	for _, sh := range l.shelves.opened {
		if err := sh.Reload(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

var all = catalog.Expression{Names: []string{"books"}, Options: catalog.Options{ExpandOpen: true}}

func writing(op document.Operation, id, source string) document.Write {
	return document.Write{Operation: op, Target: "books", ID: id, Source: []byte(source), Condition: document.Always}
}

func change(id, doc, upsert string) document.Write {
	w := document.Write{Operation: document.Update, Target: "books", ID: id, Condition: document.Always,
		Change: &document.Change{Doc: []byte(doc), DetectNoop: true}}
	if upsert != "" {
		w.Change.Upsert = []byte(upsert)
	}
	return w
}

// A bulk request does to each document what its items would do one by one.
func TestABulkKeepsTheOrderOfEachDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		together := newLibrary(t, `{"settings":{"number_of_shards":3},"mappings":{"dynamic":false}}`)
		apart := newLibrary(t, `{"settings":{"number_of_shards":3},"mappings":{"dynamic":false}}`)
		for range rapid.IntRange(1, 4).Draw(t, "requests") {
			writes := rapid.SliceOfN(rapid.Custom(anyWrite), 1, 12).Draw(t, "writes")
			answers := together.Write(t.Context(), writes, document.Eventually)
			for i, w := range writes {
				alone := apart.Write(t.Context(), []document.Write{w}, document.Eventually)[0]
				got, want := verdict(answers[i]), verdict(alone)
				if got != want {
					t.Fatalf("item %d, %s %s %s: %s, alone %s", i, w.Operation, w.ID, w.Source, got, want)
				}
			}
		}
		for _, id := range ids {
			got, _ := together.Get(t.Context(), document.Read{Target: "books", ID: id, Version: document.Unset})
			want, _ := apart.Get(t.Context(), document.Read{Target: "books", ID: id, Version: document.Unset})
			if got.Exists != want.Exists || got.Version != want.Version || string(got.Source) != string(want.Source) {
				t.Fatalf("%s: %+v, one by one %+v", id, got, want)
			}
		}
	})
}

var ids = []string{"a", "b", "c", "d"}

func anyWrite(t *rapid.T) document.Write {
	id := rapid.SampledFrom(ids).Draw(t, "id")
	source := fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 3).Draw(t, "n"))
	switch rapid.IntRange(0, 4).Draw(t, "operation") {
	case 0:
		return writing(document.Index, id, source)
	case 1:
		return writing(document.Create, id, source)
	case 2:
		return writing(document.Delete, id, "")
	case 3:
		return change(id, source, `{"up":1}`)
	}
	return change(id, source, "")
}

// verdict is what an answer says; sequence numbers depend on the order of other documents.
func verdict(w document.Written) string {
	if w.Err != nil {
		return string(exception.From(w.Err).Type)
	}
	return fmt.Sprintf("%s version %d", w.Outcome, w.Version)
}

// Requests that quote an old placement are routed again; a create never meets itself.
func TestRequestsFollowAShardThatMoves(t *testing.T) {
	l := newLibrary(t, `{"settings":{"number_of_shards":2}}`)
	const writers, each = 4, 60
	var wg sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				id := fmt.Sprintf("%d-%d", w, n)
				writes := []document.Write{writing(document.Create, id, `{}`), writing(document.Create, id+"x", `{}`), change(id, `{"n":1}`, "")}
				for _, answer := range l.Write(t.Context(), writes, document.Eventually) {
					if answer.Err != nil {
						t.Errorf("%s: %v", answer.ID, answer.Err)
					}
				}
				found, err := l.Get(t.Context(), document.Read{Target: "books", ID: id, Version: document.Unset})
				if err != nil || !found.Exists || string(found.Source) != `{"n":1}` {
					t.Errorf("%s: %+v, %v", id, found, err)
				}
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for moving := true; moving; {
		l.move(t)
		select {
		case <-done:
			moving = false
		default:
		}
	}
	l.move(t)
	if _, err := l.Refresh(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	total, _, err := l.Count(t.Context(), store.Where{Expression: all}, nil)
	if err != nil || total != 2*writers*each {
		t.Errorf("%d documents, %v; want %d", total, err, 2*writers*each)
	}
}

// Pages go on where the one before ended, whatever is written meanwhile: no
// document comes twice, and those that were there before all come.
func TestPagesGoOn(t *testing.T) {
	l := newLibrary(t, `{"settings":{"number_of_shards":3}}`)
	var writes []document.Write
	for n := range 200 {
		writes = append(writes, writing(document.Index, fmt.Sprintf("old-%03d", n), `{}`))
	}
	l.Write(t.Context(), writes, document.AtOnce)
	for _, order := range [][]search.Sort{{{Field: "_doc"}}, {{Field: "_id"}}, {{Field: "_id", Descending: true}, {Field: "_doc"}}, {{Field: "_doc", Descending: true}}} {
		seen := map[string]int{}
		var after []search.SortValue
		for page := 0; ; page++ {
			r := search.NewRequest()
			r.Size, r.Sort, r.After, r.TrackTotal = 17, order, after, -1
			answer, err := l.Find(t.Context(), store.Where{Expression: all}, r)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Close(); err != nil {
				t.Fatal(err)
			}
			if len(answer.Hits) == 0 {
				break
			}
			for _, h := range answer.Hits {
				seen[h.ID]++
			}
			after = answer.Hits[len(answer.Hits)-1].Sort
			l.Write(t.Context(), []document.Write{writing(document.Index, fmt.Sprintf("new-%d-%v", page, order), `{}`)}, document.AtOnce)
			if page == 3 {
				l.move(t)
				if found, err := l.Get(t.Context(), document.Read{Target: "books", ID: "old-000", Version: document.Unset}); err != nil || !found.Exists {
					t.Errorf("behind a move: %+v, %v", found, err)
				}
			}
			if page > 100 {
				t.Fatalf("by %v, the pages have no end", order)
			}
		}
		for n := range 200 {
			if id := fmt.Sprintf("old-%03d", n); seen[id] != 1 {
				t.Errorf("by %v, %s comes %d times", order, id, seen[id])
			}
		}
	}
}

// What a search shows is what was there at the last refresh, and what a get shows
// is what is there.
func TestSearchesSeeRefreshesAndGetsSeeTheTruth(t *testing.T) {
	l := newLibrary(t, `{"settings":{"refresh_interval":"-1"}}`)
	count := func() int64 {
		total, _, err := l.Count(t.Context(), store.Where{Expression: all}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	l.Write(t.Context(), []document.Write{writing(document.Index, "1", `{}`)}, document.Eventually)
	if n := count(); n != 0 {
		t.Errorf("%d documents are seen before a refresh", n)
	}
	if found, _ := l.Get(t.Context(), document.Read{Target: "books", ID: "1", Version: document.Unset}); !found.Exists {
		t.Error("a get does not see what was acknowledged")
	}
	if found, _ := l.Get(t.Context(), document.Read{Target: "books", ID: "1", Version: document.Unset, Searched: true}); found.Exists {
		t.Error("a get that asks for what searches see sees more")
	}
	if answer := l.Write(t.Context(), []document.Write{writing(document.Index, "2", `{}`)}, document.AtOnce)[0]; !answer.Refreshed {
		t.Errorf("not refreshed: %+v", answer)
	}
	if n := count(); n != 2 {
		t.Errorf("%d documents are seen after a refresh", n)
	}
	l.Write(t.Context(), []document.Write{writing(document.Delete, "1", "")}, document.AtOnce)
	if n := count(); n != 1 {
		t.Errorf("%d documents are seen after a delete", n)
	}
}

// A request that races with the deletion of its index is answered so, and the
// index does not come back by it.
func TestADeletedIndexStaysDeleted(t *testing.T) {
	l := newLibrary(t, `{}`)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for w := range 4 {
		wg.Go(func() {
			<-start
			for n := range 50 {
				id := fmt.Sprintf("%d-%d", w, n)
				answer := l.Write(t.Context(), []document.Write{{Operation: document.Delete, Target: "books", ID: id, Condition: document.Always}}, document.Eventually)[0]
				if answer.Err != nil && !exception.Is(answer.Err, exception.IndexNotFound) {
					t.Errorf("%s: %v", id, answer.Err)
				}
				_, err := l.Get(t.Context(), document.Read{Target: "books", ID: id, Version: document.Unset})
				if err != nil && !exception.Is(err, exception.IndexNotFound) {
					t.Errorf("get %s: %v", id, err)
				}
			}
		})
	}
	close(start)
	if err := l.DeleteIndices(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if names, err := l.Resolve(t.Context(), catalog.Expression{Options: catalog.Options{ExpandOpen: true}}); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
}
