package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// put writes one document.
func put(ctx context.Context, s *store.Store, target, id, source string) error {
	return s.Write(ctx, []document.Write{{Target: target, ID: id, Source: []byte(source), Condition: document.Always}}, document.Eventually)[0].Err
}

func count(t *testing.T, s *store.Store, target string) int64 {
	t.Helper()
	total, _, err := s.Count(t.Context(), store.Where{Expression: expression([]string{target}, searched)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return total
}

func settle(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in 20 s", what)
		}
	}
}

func TestSettingsTakeEffect(t *testing.T) {
	ctx := t.Context()
	w := newTalker(t)
	s := w.store
	settings := func(body string) error {
		return s.PutSettings(ctx, expression([]string{"i"}, changed), []byte(body), false)
	}
	if _, err := s.CreateIndex(ctx, "i", []byte(`{"settings":{"refresh_interval":-1,"mapping.total_fields.limit":3}}`)); err != nil {
		t.Fatal(err)
	}

	// A limit, and the limit raised.
	if err := put(ctx, s, "i", "1", `{"a":1,"b":2,"c":3}`); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "i", "2", `{"d":4}`); !exception.Is(err, exception.IllegalArgument) || !strings.Contains(err.Error(), "Limit of total fields [3]") {
		t.Fatal(err)
	}
	if err := settings(`{"mapping.total_fields.limit":4}`); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "i", "2", `{"d":4}`); err != nil {
		t.Fatal(err)
	}

	// No refresh, and then one for what was written before.
	if got := count(t, s, "i"); got != 0 {
		t.Fatalf("%d documents are seen without a refresh", got)
	}
	if err := settings(`{"refresh_interval":"1ms"}`); err != nil {
		t.Fatal(err)
	}
	settle(t, "a refresh after the interval was set", func() bool { return count(t, s, "i") == 2 })

	// A shorter interval is for what waits already.
	if err := settings(`{"refresh_interval":"1h"}`); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "i", "waiting", `{"a":1}`); err != nil {
		t.Fatal(err)
	}
	if err := settings(`{"refresh_interval":"1ms"}`); err != nil {
		t.Fatal(err)
	}
	settle(t, "a refresh when the interval is shorter", func() bool { return count(t, s, "i") == 3 })

	// A lowered limit leaves what is there.
	if err := settings(`{"mapping.total_fields.limit":1}`); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "i", "3", `{"d":5}`); err != nil {
		t.Fatal(err)
	}
}

func TestAutomaticCreationMayBeForbidden(t *testing.T) {
	ctx := t.Context()
	s := newTalker(t).store
	for _, tc := range []struct{ setting, target, reason string }{
		{`"false"`, "x", "no such index [x] and [action.auto_create_index] is [false]"},
		{`"+a*,-b*"`, "a1", ""},
		{`"+a*,-b*"`, "b1", "no such index [b1] and [action.auto_create_index] contains [-b*] which forbids automatic creation of the index"},
		{`"+a*,-b*"`, "c1", "no such index [c1] and [action.auto_create_index] ([+a*,-b*]) doesn't match"},
		{`null`, "c1", ""},
	} {
		if _, err := s.PutClusterSettings(ctx, []byte(`{"persistent":{"action.auto_create_index":`+tc.setting+`}}`)); err != nil {
			t.Fatal(err)
		}
		err := put(ctx, s, tc.target, "1", `{}`)
		if tc.reason == "" {
			if err != nil {
				t.Errorf("%s, %s: %v", tc.setting, tc.target, err)
			}
			continue
		}
		e := exception.From(err)
		if err == nil || e.Type != exception.IndexNotFound || e.Reason != tc.reason {
			t.Errorf("%s, %s: %v", tc.setting, tc.target, err)
		}
	}
	if _, err := s.PutClusterSettings(ctx, []byte(`{"transient":{"action":{"destructive_requires_name":true}}}`)); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{nil, {"_all"}, {"a*"}} {
		if err := s.DeleteIndices(ctx, expression(names, deleted)); !exception.Is(err, exception.IllegalArgument) {
			t.Errorf("deleting %v: %v", names, err)
		}
	}
	if err := s.DeleteIndices(ctx, expression([]string{"a1"}, deleted)); err != nil {
		t.Error(err)
	}
}

// TestManyWritersOneMapping: writers that bring new fields at once to a name that nobody
// has make one index, whose mapping has all fields.
func TestManyWritersOneMapping(t *testing.T) {
	ctx := t.Context()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	s := open(t, c, e)
	defer s.Close()
	const writers = 16
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range 4 {
				if err := put(ctx, s, "new", fmt.Sprint(i, "-", j), fmt.Sprintf(`{"own%d":1,"shared%d":"x"}`, i, j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	statuses, err := s.Status(ctx, expression(nil, shown))
	if err != nil || len(statuses) != 1 {
		t.Fatal(statuses, err)
	}
	var m struct{ Properties map[string]any }
	if err := json.Unmarshal(statuses[0].Mapping, &m); err != nil || len(m.Properties) != writers+4 {
		t.Errorf("%d fields: %s, %v", len(m.Properties), statuses[0].Mapping, err)
	}
	if got := statuses[0].Shards[0].Docs; got != 4*writers {
		t.Errorf("%d documents", got)
	}
	s.Close()
	s = open(t, c, e)
	defer s.Close()
	again, err := s.Status(ctx, expression(nil, shown))
	if err != nil || string(again[0].Mapping) != string(statuses[0].Mapping) {
		t.Errorf("after a new start: %s, %v", again[0].Mapping, err)
	}
}

// TestNamesChangeUnderRequests: indices come, close, open and go while others write and
// search; every error is one that a client understands.
func TestNamesChangeUnderRequests(t *testing.T) {
	ctx := t.Context()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	s := open(t, c, e)
	understood := []exception.Type{exception.IndexNotFound, exception.IndexClosed, exception.ResourceAlreadyExists}
	check := func(what string, err error) {
		if err != nil && !slices.Contains(understood, exception.From(err).Type) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				check("writing", put(ctx, s, "i", fmt.Sprint(i%10), `{"a":1}`))
				found, err := s.Find(ctx, store.Where{Expression: expression([]string{"i"}, searched)}, search.NewRequest())
				if err == nil {
					err = found.Close()
				}
				check("searching", err)
				_, err = s.Get(ctx, document.Read{Target: "i", ID: "1", Version: document.Unset})
				check("getting", err)
			}
		})
	}
	for range 100 {
		_, err := s.CreateIndex(ctx, "i", []byte(`{"settings":{"number_of_shards":2}}`))
		check("creating", err)
		_, err = s.CloseIndices(ctx, expression([]string{"i"}, shown))
		check("closing", err)
		_, err = s.OpenIndices(ctx, expression([]string{"i"}, opened))
		check("opening", err)
		check("deleting", s.DeleteIndices(ctx, expression([]string{"i"}, deleted)))
	}
	close(done)
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = open(t, c, e)
	defer s.Close()
	clean(t, c, e, "after all")
}

// clinging is an engine whose shards, for a while, have readers that keep them open.
type clinging struct {
	*shardmemory.Engine
	mu   sync.Mutex
	left int // closings that fail
}

func (e *clinging) Open(ctx context.Context, id shard.ID, p shard.Placements, settings shard.Settings) (shard.Shard, error) {
	sh, err := e.Engine.Open(ctx, id, p, settings)
	return &held{sh, e}, err
}

type held struct {
	shard.Shard
	engine *clinging
}

func (h *held) Close() error {
	h.engine.mu.Lock()
	defer h.engine.mu.Unlock()
	if h.engine.left > 0 {
		h.engine.left--
		return fault.New(fault.Conflict, "a reader is open")
	}
	return h.Shard.Close()
}

func TestADeletedIndexIsErasedWhenItsReadersEnd(t *testing.T) {
	ctx := t.Context()
	c, e := coordmemory.New(), &clinging{Engine: shardmemory.New(shardmemory.Options{})}
	s, err := store.Open(ctx, c, e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateIndex(ctx, "i", nil); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "i", "1", `{}`); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.left = 5
	e.mu.Unlock()
	if err := s.DeleteIndices(ctx, expression([]string{"i"}, deleted)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateIndex(ctx, "i", nil); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, c, e.Engine, "after the readers")
	if len(truth(t, c).Indices) != 1 {
		t.Errorf("%v", truth(t, c).Indices)
	}
}

// sized is an engine whose indices take so many bytes on disk, if that is known.
type sized struct {
	*shardmemory.Engine
	bytes int64
	known bool
}

func (e *sized) OnDisk(uint32) (int64, bool) { return e.bytes, e.known }

// TestRolloverLooksAtTheDisk: max_size is of what the index takes there, not of its documents.
func TestRolloverLooksAtTheDisk(t *testing.T) {
	ctx := t.Context()
	engine := &sized{Engine: shardmemory.New(shardmemory.Options{})}
	s, err := store.Open(ctx, coordmemory.New(), engine, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateIndex(ctx, "logs-000001", []byte(`{"aliases":{"logs":{}}}`)); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "logs", "1", `{"text":"`+strings.Repeat("x", 2000)+`"}`); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		bytes int64
		known bool
		most  string
		rolls bool
	}{
		{500, true, "1kb", false}, {1 << 30, true, "1kb", true}, {1 << 30, true, "1gb", true}, {1<<30 - 1, true, "1gb", false},
		{0, false, "1kb", true}, {0, false, "1mb", false}, // of what is not known, the documents tell
	} {
		engine.bytes, engine.known = tc.bytes, tc.known
		answer, err := s.Rollover(ctx, "logs", "", []byte(`{"conditions":{"max_size":"`+tc.most+`"}}`), true)
		if err != nil || len(answer.Conditions) != 1 || answer.Conditions[0].Met != tc.rolls {
			t.Errorf("%+v: %+v, %v", tc, answer, err)
		}
	}
}

func TestRolloverLooksAtTheIndex(t *testing.T) {
	ctx := t.Context()
	now := recorded
	s, err := store.Open(ctx, coordmemory.New(), shardmemory.New(shardmemory.Options{}), store.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateIndex(ctx, "<logs-{now/d}-000001>", []byte(`{"aliases":{"logs":{}}}`)); err != nil {
		t.Fatal(err)
	}
	roll := func(conditions string) catalog.RolledOver {
		t.Helper()
		answer, err := s.Rollover(ctx, "logs", "", []byte(`{"conditions":`+conditions+`}`), false)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if got := roll(`{"max_age":"1d"}`); got.RolledOver || got.NewIndex != "logs-2026.11.21-000002" {
		t.Errorf("%+v", got)
	}
	now = now.Add(25 * time.Hour)
	if got := roll(`{"max_docs":1,"max_age":"1d"}`); !got.RolledOver || got.NewIndex != "logs-2026.11.22-000002" || got.Conditions[0].Met || !got.Conditions[1].Met {
		t.Errorf("%+v", got)
	}
	if err := put(ctx, s, "logs", "1", `{}`); err != nil {
		t.Fatal(err)
	}
	if got := roll(`{"max_docs":1}`); !got.RolledOver || got.NewIndex != "logs-2026.11.22-000003" {
		t.Errorf("%+v", got)
	}
}
