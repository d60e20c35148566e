package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// frail is a coordination store that fails at one call: before it is made, or after, when
// the caller cannot know that it was. With dead, every later call fails too, as when the
// process ends there.
type frail struct {
	coord.Store
	mu    sync.Mutex
	calls int
	failure
}

// failure says which call fails, and how.
type failure struct {
	at    int // the call, from 1; 0: none
	after bool
	dead  bool
	more  int // how many calls behind it fail too
}

func (f *frail) fails() (now, afterwards bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	switch {
	case f.at == 0 || f.calls < f.at:
		return false, false
	case f.calls == f.at:
		return !f.after, f.after
	}
	return f.dead || f.calls <= f.at+f.more, false
}

var errFrail = fault.New(fault.Unavailable, "the coordination store does not answer")

// through makes a call unless it fails.
func through[T any](f *frail, call func() (T, error)) (result T, err error) {
	now, afterwards := f.fails()
	if now {
		return result, errFrail
	}
	if result, err = call(); err == nil && afterwards {
		var none T
		return none, errFrail
	}
	return result, err
}

func (f *frail) Get(ctx context.Context, key string) (coord.Record, error) {
	return through(f, func() (coord.Record, error) { return f.Store.Get(ctx, key) })
}

func (f *frail) List(ctx context.Context, prefix string) ([]coord.Record, error) {
	return through(f, func() ([]coord.Record, error) { return f.Store.List(ctx, prefix) })
}

func (f *frail) Create(ctx context.Context, key string, value []byte) (int64, error) {
	return through(f, func() (int64, error) { return f.Store.Create(ctx, key, value) })
}

func (f *frail) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return through(f, func() (int64, error) { return f.Store.Swap(ctx, key, revision, value) })
}

func (f *frail) Delete(ctx context.Context, key string, revision int64) error {
	_, err := through(f, func() (struct{}, error) { return struct{}{}, f.Store.Delete(ctx, key, revision) })
	return err
}

// changes are what is interrupted. Each begins from the same names.
var changes = map[string]func(ctx context.Context, s *store.Store) error{
	"create": func(ctx context.Context, s *store.Store) error {
		_, err := s.CreateIndex(ctx, "new", []byte(`{"settings":{"number_of_shards":3},"aliases":{"all":{}},"mappings":{"properties":{"k":{"type":"keyword"}}}}`))
		return err
	},
	"delete": func(ctx context.Context, s *store.Store) error {
		return s.DeleteIndices(ctx, expression([]string{"logs-1", "plain"}, deleted))
	},
	"roll over an alias": func(ctx context.Context, s *store.Store) error {
		_, err := s.Rollover(ctx, "logs", "", nil, false)
		return err
	},
	"create a stream": func(ctx context.Context, s *store.Store) error { return s.CreateStream(ctx, "ds-new") },
	"roll over a stream": func(ctx context.Context, s *store.Store) error {
		_, err := s.Rollover(ctx, "ds-old", "", nil, false)
		return err
	},
	"delete a stream": func(ctx context.Context, s *store.Store) error { return s.DeleteStreams(ctx, []string{"ds-old"}) },
	"switch aliases": func(ctx context.Context, s *store.Store) error {
		return s.UpdateAliases(ctx, []byte(`{"actions":[{"remove":{"index":"logs-1","alias":"logs"}},{"add":{"index":"plain","alias":"logs"}}]}`))
	},
	"replace an index by an alias": func(ctx context.Context, s *store.Store) error {
		return s.UpdateAliases(ctx, []byte(`{"actions":[{"remove_index":{"index":"plain"}},{"add":{"index":"logs-1","alias":"plain"}}]}`))
	},
	"close": func(ctx context.Context, s *store.Store) error {
		_, err := s.CloseIndices(ctx, expression([]string{"plain", "logs-1"}, shown))
		return err
	},
	"open": func(ctx context.Context, s *store.Store) error {
		_, err := s.OpenIndices(ctx, expression([]string{"shut"}, opened))
		return err
	},
	"put a mapping": func(ctx context.Context, s *store.Store) error {
		return s.PutMapping(ctx, expression([]string{"plain"}, changed), []byte(`{"properties":{"n":{"type":"long"}}}`), false)
	},
	"hide": func(ctx context.Context, s *store.Store) error {
		return s.PutSettings(ctx, expression([]string{"plain"}, changed), []byte(`{"hidden":true}`), false)
	},
	"put a template": func(ctx context.Context, s *store.Store) error {
		return s.PutIndexTemplate(ctx, "more", []byte(`{"index_patterns":["more*"]}`), false)
	},
	"write to nobody": func(ctx context.Context, s *store.Store) error {
		return s.Write(ctx, []document.Write{{Target: "ds-auto", Operation: document.Create, Source: []byte(`{"@timestamp":"2026-11-21"}`), Condition: document.Always}}, document.Eventually)[0].Err
	},
}

// begin fills a store with names.
func begin(t *testing.T, ctx context.Context, s *store.Store) {
	t.Helper()
	_, closing := s.CreateIndex(ctx, "shut", nil)
	_, first := s.CreateIndex(ctx, "logs-1", []byte(`{"aliases":{"logs":{}}}`))
	_, second := s.CreateIndex(ctx, "plain", []byte(`{"aliases":{"all":{}}}`))
	_, closed := s.CloseIndices(ctx, expression([]string{"shut"}, shown))
	for _, err := range []error{
		closing, first, second, closed,
		s.PutIndexTemplate(ctx, "streams", []byte(`{"index_patterns":["ds-*"],"data_stream":{}}`), false),
		s.CreateStream(ctx, "ds-old"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAChangeHappensWhollyOrNotAtAll interrupts each change at every call of the
// coordination store, in each way, starts again and looks.
func TestAChangeHappensWhollyOrNotAtAll(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			before, after := outcomes(t, change)
			for _, how := range []failure{
				{after: true}, {after: false}, {after: true, more: 1}, {after: false, more: 1}, {after: true, more: 2}, {after: true, dead: true}, {after: false, dead: true},
			} {
				for how.at = 1; interrupted(t, change, how, before, after); how.at++ {
					if how.at > 200 {
						t.Fatal("the change never ends")
					}
				}
			}
		})
	}
}

// outcomes are the names before and after a change that nothing interrupts.
func outcomes(t *testing.T, change func(context.Context, *store.Store) error) (before, after string) {
	ctx := t.Context()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	s := open(t, c, e)
	defer s.Close()
	begin(t, ctx, s)
	before = summary(t, c)
	if err := change(ctx, s); err != nil {
		t.Fatal(err)
	}
	return before, summary(t, c)
}

func open(t *testing.T, c coord.Store, e *shardmemory.Engine) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), c, e, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// interrupted makes the change over a frail store, starts again, and holds what is there
// against the outcomes. It is false when the change made fewer calls.
func interrupted(t *testing.T, change func(context.Context, *store.Store) error, how failure, before, after string) bool {
	t.Helper()
	ctx := t.Context()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	f := &frail{Store: c}
	s := open(t, f, e)
	begin(t, ctx, s)
	f.mu.Lock()
	f.calls, f.failure = 0, how
	f.mu.Unlock()
	err := change(ctx, s)
	f.mu.Lock()
	reached := f.calls >= how.at
	if !how.dead {
		f.at = 0
	}
	f.mu.Unlock()
	place := fmt.Sprintf("%+v: %v", how, err)

	if !how.dead { // the process goes on: it must know the truth again
		if err := s.PutIndexTemplate(ctx, "later", []byte(`{"index_patterns":["later"]}`), false); err != nil {
			t.Errorf("%s: the next change fails: %v", place, err)
		}
		if err := s.DeleteIndexTemplates(ctx, "later"); err != nil {
			t.Errorf("%s: the change after it fails: %v", place, err)
		}
		there := summary(t, c)
		if believed := shape(s.Catalog()); !strings.HasPrefix(there, believed) {
			t.Errorf("%s: the store believes\n%s\ninstead of\n%s", place, believed, there)
		}
		judge(t, place, err, there, before, after)
		usable(t, s, place)
	}
	_ = s.Close() // as the end of the process would

	s = open(t, c, e)
	defer s.Close()
	if how.dead {
		judge(t, place, err, summary(t, c), before, after)
	}
	clean(t, c, e, place)
	usable(t, s, place)
	return reached
}

// judge holds what is there against the outcomes.
func judge(t *testing.T, place string, told error, there, before, after string) {
	t.Helper()
	switch {
	case told == nil && there != after:
		t.Errorf("%s: it was said to be done, and there is\n%s\ninstead of\n%s", place, there, after)
	case there != before && there != after:
		t.Errorf("%s: there is\n%s\nneither\n%s\nnor\n%s", place, there, before, after)
	}
}

// summary are all names, and what is stored of each index, without what chance chose.
func summary(t *testing.T, c coord.Store) string {
	t.Helper()
	names := truth(t, c)
	var b strings.Builder
	b.WriteString(shape(names))
	for _, name := range slices.Sorted(keys(names.Indices)) {
		record, err := c.Get(t.Context(), fmt.Sprintf("index/%d", names.Indices[name].Number))
		if err != nil {
			t.Fatal(err)
		}
		var idx catalog.Index
		if err := json.Unmarshal(record.Value, &idx); err != nil {
			t.Fatal(err)
		}
		if idx.Name != name || idx.UUID != names.Indices[name].UUID {
			t.Errorf("the record of %s is of %s, %s", name, idx.Name, idx.UUID)
		}
		fmt.Fprintf(&b, "%s %s shards %s hidden %q\n", name, idx.Mapping, idx.Settings["index.number_of_shards"], idx.Settings["index.hidden"])
	}
	return b.String()
}

// shape is a catalog without what chance chose.
func shape(names catalog.Catalog) string {
	var b strings.Builder
	for _, name := range slices.Sorted(keys(names.Indices)) {
		entry := names.Indices[name]
		fmt.Fprintf(&b, "index %s closed %t hidden %t stream %q\n", name, entry.Closed, entry.Hidden, entry.Stream)
	}
	rest, _ := json.Marshal([]any{names.Aliases, names.Streams, names.Composable})
	return b.String() + string(rest) + "\n"
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

func truth(t *testing.T, c coord.Store) catalog.Catalog {
	t.Helper()
	record, err := c.Get(t.Context(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	names, err := catalog.Decode(record.Value)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// clean refuses records and rows of indices that nobody names.
func clean(t *testing.T, c coord.Store, e *shardmemory.Engine, place string) {
	t.Helper()
	var want []string
	named := map[uint32]bool{}
	for _, entry := range truth(t, c).Indices {
		want = append(want, fmt.Sprintf("index/%d", entry.Number), fmt.Sprintf("placement/%d", entry.Number))
		named[entry.Number] = true
	}
	slices.Sort(want)
	var got []string
	for _, prefix := range []string{"index/", "placement/"} {
		records, err := c.List(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			got = append(got, r.Key)
		}
	}
	slices.Sort(got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: records %v, named are %v", place, got, want)
	}
	held, err := e.Indices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range held {
		if !named[number] {
			t.Errorf("%s: rows of index %d are left over", place, number)
		}
	}
}

// usable writes a document to every open index and reads it back.
func usable(t *testing.T, s *store.Store, place string) {
	t.Helper()
	for name, entry := range s.Catalog().Indices {
		if entry.Closed {
			continue
		}
		written := s.Write(t.Context(), []document.Write{{Target: name, ID: "probe", Source: []byte(`{"@timestamp":"2026-11-21","k":"v"}`), Condition: document.Always}}, document.Eventually)[0]
		if written.Err != nil {
			t.Errorf("%s: index %s takes no document: %v", place, name, written.Err)
			continue
		}
		if found, err := s.Get(t.Context(), document.Read{Target: name, ID: "probe", Version: document.Unset}); err != nil || !found.Exists {
			t.Errorf("%s: the document of index %s is not found: %v", place, name, err)
		}
	}
}
