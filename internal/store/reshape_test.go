package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// plenty is a budget that no test meets.
const plenty = time.Minute

// reshaper splits and merges the shards of the index "i" of a store.
type reshaper struct {
	testing.TB
	ctx   context.Context
	store *store.Store
	index uint32
}

func (r *reshaper) placed() placement.Placement {
	r.Helper()
	p, err := r.store.PlacementOf(r.ctx, "i")
	if err != nil {
		r.Fatal(err)
	}
	return p
}

// cut are the incarnations of a shard that is cut into k equal parts.
func cut(p placement.Placement, number uint32, k int) (from []uint32, to []shard.Incarnation) {
	row, _ := p.Shard(number)
	next, step := p.Next, (row.Range.To-row.Range.From)/routing.Key(k)
	for i := range k {
		one := shard.Incarnation{Number: number, Range: routing.Range{From: row.Range.From + routing.Key(i)*step, To: row.Range.To}, Term: row.Term + 1}
		if i > 0 {
			to[i-1].Range.To = one.Range.From - 1
			one.Number, next = next, next+1
		}
		to = append(to, one)
	}
	return []uint32{number}, to
}

// join is the incarnation of the shards from place i to j.
func join(p placement.Placement, i, j int) (from []uint32, to []shard.Incarnation) {
	one := shard.Incarnation{Number: p.Shards[i].Number, Range: routing.Range{From: p.Shards[i].Range.From, To: p.Shards[j].Range.To}}
	for _, row := range p.Shards[i : j+1] {
		from, one.Number, one.Term = append(from, row.Number), min(one.Number, row.Number), max(one.Term, row.Term+1)
	}
	return from, []shard.Incarnation{one}
}

// named gives the placement with what was staged.
func named(from []uint32, to []shard.Incarnation) func(placement.Placement, map[uint32]int64) (placement.Placement, error) {
	return func(p placement.Placement, _ map[uint32]int64) (placement.Placement, error) {
		p.Last = placement.Change{By: "a test", Why: "hand-off", At: time.Now()}
		return shardtest.HandedOver(p, from, to), nil
	}
}

// become hands over, and expects it to be done.
func (r *reshaper) become(from []uint32, to []shard.Incarnation) store.HandedOff {
	r.Helper()
	h, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, named(from, to))
	if err != nil {
		r.Fatal(err)
	}
	if err := h.Staged.Close(); err != nil {
		r.Fatal(err)
	}
	return h
}

func (r *reshaper) split(number uint32, k int) { r.Helper(); r.become(cut(r.placed(), number, k)) }
func (r *reshaper) merge(i, j int)             { r.Helper(); r.become(join(r.placed(), i, j)) }

// reshaped opens a store with an index of n shards.
func reshaped(t testing.TB, c coord.Store, e shard.Engine, settings string) *reshaper {
	t.Helper()
	s, err := store.Open(context.Background(), c, e, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	if _, err := s.CreateIndex(ctx, "i", []byte(`{"settings":{`+settings+`},"mappings":{"properties":{"n":{"type":"long"},"t":{"type":"text"},"k":{"type":"keyword"}}}}`)); err != nil {
		t.Fatal(err)
	}
	p, err := s.PlacementOf(ctx, "i")
	if err != nil {
		t.Fatal(err)
	}
	return &reshaper{t, ctx, s, p.Index}
}

func inMemory(t testing.TB) *reshaper {
	t.Helper()
	return reshaped(t, coordmemory.New(), shardmemory.New(shardmemory.Options{}), `"refresh_interval":-1`)
}

// put writes documents 0 to n-1, visible when told so.
func (r *reshaper) put(n int, source func(i int) string) []document.Written {
	r.Helper()
	var writes []document.Write
	for i := range n {
		writes = append(writes, document.Write{Target: "i", ID: fmt.Sprint(i), Source: []byte(source(i)), Condition: document.Always})
	}
	all := r.store.Write(r.ctx, writes, document.AtOnce)
	for _, w := range all {
		if w.Err != nil {
			r.Fatal(w.Err)
		}
	}
	return all
}

// ids are those that a search of everything finds, sorted; each once.
func (r *reshaper) ids(where store.Where) []string {
	r.Helper()
	request := search.NewRequest()
	request.Size, request.TrackTotal = 5000, -1
	if where.Point == "" {
		where.Expression = expression([]string{"i"}, searched)
	}
	found, err := r.store.Find(r.ctx, where, request)
	if err != nil {
		r.Fatal(err)
	}
	defer found.Close()
	var ids []string
	for _, h := range found.Hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	if total := len(ids); total != len(slices.Compact(ids)) || int64(total) != found.Total {
		r.Fatalf("%d hits of %d: %v", total, found.Total, ids)
	}
	return ids
}

func (r *reshaper) get(id string) document.Found {
	r.Helper()
	found, err := r.store.Get(r.ctx, document.Read{Target: "i", ID: id, Version: document.Unset})
	if err != nil {
		r.Fatal(err)
	}
	return found
}

func counted(i int) string { return fmt.Sprintf(`{"n":%d,"t":"all of %d","k":"k%d"}`, i, i, i%7) }

func TestShardsAreSplitAndMergedInPlace(t *testing.T) {
	r := inMemory(t)
	written := r.put(200, counted)
	r.split(0, 3)
	r.split(1, 2)
	r.merge(0, 1)
	for i, w := range written {
		found := r.get(w.ID)
		if !found.Exists || found.Versions != w.Versions || string(found.Source) != counted(i) {
			t.Fatalf("%s: %+v, written was %+v", w.ID, found, w)
		}
	}
	if ids := r.ids(store.Where{}); len(ids) != 200 {
		t.Fatalf("%d documents are found", len(ids))
	}
	p := r.placed()
	shelves, err := r.store.PlacementView(r.ctx, "i")
	if err != nil || len(shelves.Shards) != 3 || shelves.Version != 4 || p.Last.Why != "hand-off" {
		t.Fatalf("%+v, %v", shelves, err)
	}
	docs := int64(0)
	for i, shelf := range shelves.Shards {
		if docs += shelf.Docs; shelf.Shard != p.Shards[i] || shelf.Docs == 0 || shelf.Bytes == 0 {
			t.Errorf("%+v, placed as %+v", shelf, p.Shards[i])
		}
	}
	if docs != 200 {
		t.Errorf("the shards have %d documents", docs)
	}
	again := r.put(200, counted)
	for i, w := range again {
		if w.Version != 2 || w.Outcome != document.Updated || w.SeqNo <= written[i].SeqNo || w.PrimaryTerm < 2 {
			t.Fatalf("%+v after %+v", w, written[i])
		}
	}
}

func TestAHandOffTellsItsPositionsAndPause(t *testing.T) {
	r := reshaped(t, coordmemory.New(), shardmemory.New(shardmemory.Options{}), `"refresh_interval":-1,"number_of_shards":2`)
	r.put(50, counted)
	before := r.placed()
	from, to := join(before, 0, 1)
	h, err := r.store.HandOff(r.ctx, r.index, []uint32{1, 0}, to, plenty, named(from, to))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Staged.Close()
	if h.At[0]+h.At[1] != 48 || len(h.At) != 2 || h.Pause <= 0 || h.Placement.String() != r.placed().String() {
		t.Fatalf("%+v", h)
	}
	r.put(60, counted)
	for i, reader := range h.Staged.From {
		if reader.SeqNo() != h.At[uint32(i)] || reader.Docs() != reader.SeqNo()+1 {
			t.Errorf("source %d is told at %d with %d documents", i, reader.SeqNo(), reader.Docs())
		}
	}
	if w := h.Waits(); w != (shard.Waits{}) {
		t.Errorf("nobody asked, and %v waited", w)
	}
}

func TestAHandOffOverItsBudgetChangesNothing(t *testing.T) {
	e := &hooked{Engine: shardmemory.New(shardmemory.Options{})}
	r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
	r.put(50, counted)
	before := r.placed()
	from, to := cut(before, 0, 2)
	for step, try := range map[string]struct {
		budget time.Duration
		stage  func(context.Context) error
		staged func(context.Context)
	}{
		"drain":  {0, nil, nil},
		"stage":  {20 * time.Millisecond, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil},
		"change": {20 * time.Millisecond, nil, func(ctx context.Context) { <-ctx.Done() }},
	} {
		e.stage, e.staged = try.stage, try.staged
		begun := time.Now()
		_, err := r.store.HandOff(r.ctx, r.index, from, to, try.budget, named(from, to))
		var over *store.OverBudget
		if !errors.As(err, &over) || over.Budget != try.budget || over.Spent < try.budget || over.Spent > time.Since(begun) ||
			!fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", step, err)
		} else if over.Step != step && (step != "change" || over.Step != "turn") {
			t.Errorf("it was given up at %s, expected %s", over.Step, step)
		}
		if r.placed().String() != before.String() || len(r.ids(store.Where{})) != 50 {
			t.Errorf("%s: it has changed: %v", step, r.placed())
		}
		if w := r.put(50, counted); w[0].PrimaryTerm != 1 {
			t.Errorf("%s: %+v", step, w[0])
		}
	}
	e.stage, e.staged = nil, nil
	if err := r.store.Unstage(r.ctx, r.index); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	e.stage = func(context.Context) error { cancel(); return nil }
	if _, err := r.store.HandOff(ctx, r.index, from, to, plenty, named(from, to)); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller has gone: %v", err)
	}
	if r.placed().String() != before.String() {
		t.Errorf("the caller has gone: %v", r.placed())
	}
}

// TestWhatAHandOffHasStagedIsNotRemovedBeforeItIsNamed: the end of another movement comes between the
// staging of a hand-off and its compare-and-set.
func TestWhatAHandOffHasStagedIsNotRemovedBeforeItIsNamed(t *testing.T) {
	e := &hooked{Engine: shardmemory.New(shardmemory.Options{})}
	r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
	r.put(50, counted)
	from, to := cut(r.placed(), 0, 2)
	var removed error
	e.staged = func(ctx context.Context) {
		limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		removed = r.store.Unstage(limited, r.index)
	}
	h, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, named(from, to))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Staged.Close() }()
	if n := len(r.ids(store.Where{})); n != 50 || !errors.Is(removed, context.DeadlineExceeded) {
		t.Errorf("%d of 50 documents are left; removing what was staged: %v", n, removed)
	}
}

// hooked is an engine that does something before it stages: behind the fence.
type hooked struct {
	*shardmemory.Engine
	stage  func(context.Context) error
	staged func(context.Context) // when it has been
}

func (h *hooked) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	if h.stage != nil {
		if err := h.stage(ctx); err != nil {
			return nil, err
		}
	}
	s, err := h.Engine.Stage(ctx, index, from, to)
	if h.staged != nil {
		h.staged(ctx)
	}
	return s, err
}

func TestAPlacementThatIsNoSuccessorIsABug(t *testing.T) {
	r := inMemory(t)
	r.put(10, counted)
	before := r.placed()
	from, to := cut(before, 0, 2)
	next := named(from, to)
	for name, wrong := range map[string]func(p *placement.Placement){
		"the same version":  func(p *placement.Placement) { p.Version-- },
		"an old epoch":      func(p *placement.Placement) { p.Shards[1].Epoch = 1 },
		"another range":     func(p *placement.Placement) { p.Shards[0].Range.To--; p.Shards[1].Range.From-- },
		"another term":      func(p *placement.Placement) { p.Shards[0].Term++ },
		"one shard is lost": func(p *placement.Placement) { p.Shards = p.Shards[:1] },
	} {
		_, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, func(p placement.Placement, at map[uint32]int64) (placement.Placement, error) {
			p, err := next(p, at)
			wrong(&p)
			return p, err
		})
		if err == nil || !fault.Is(err, fault.Bug) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refusal := fault.New(fault.LostLease, "somebody else does it")
	if _, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, func(p placement.Placement, _ map[uint32]int64) (placement.Placement, error) {
		return p, refusal
	}); !errors.Is(err, refusal) {
		t.Error(err)
	}
	if r.placed().String() != before.String() || len(r.ids(store.Where{})) != 10 {
		t.Errorf("it has changed: %v", r.placed())
	}
	r.put(10, counted)
	r.split(0, 2)
	if _, err := r.store.HandOff(r.ctx, r.index, []uint32{7}, to, plenty, next); !fault.Is(err, fault.Stale) {
		t.Errorf("of a shard that is not there: %v", err)
	}
	if _, err := r.store.HandOff(r.ctx, 99, from, to, plenty, next); !fault.Is(err, fault.NotFound) {
		t.Errorf("of an index that is not there: %v", err)
	}
}

func TestChangesOfPlacementsChangeNoOwner(t *testing.T) {
	r := inMemory(t)
	r.put(10, counted)
	change := func(edit func(p *placement.Placement)) (placement.Placement, error) {
		return r.store.ChangePlacement(r.ctx, r.index, func(p placement.Placement) (placement.Placement, error) {
			p.Shards = slices.Clone(p.Shards)
			edit(&p)
			return p, nil
		})
	}
	p, err := change(func(p *placement.Placement) { p.Transfer, p.Last.Why = []byte(`{ "movement": "m-1" }`), "an intent" })
	if err != nil || p.Version != 2 || p.Shards[0].Epoch != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	if same, err := change(func(*placement.Placement) {}); err != nil || same.Version != 2 {
		t.Errorf("nothing was changed: %v, %v", same, err)
	}
	if found := r.placed(); found.String() != "" && string(found.Transfer) != `{"movement":"m-1"}` || found.Last.Why != "an intent" {
		t.Errorf("%v", found)
	}
	for name, edit := range map[string]func(p *placement.Placement){
		"an epoch": func(p *placement.Placement) { p.Shards[0].Epoch = 2 },
		"a term":   func(p *placement.Placement) { p.Shards[0].Term = 2 },
		"no shard": func(p *placement.Placement) { p.Shards = nil },
	} {
		if _, err := change(edit); err == nil || !fault.Is(err, fault.Bug) {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
	_, err = r.store.CloseIndices(r.ctx, expression([]string{"i"}, shown))
	if !exception.Is(err, exception.IllegalArgument) || !contains(err, "m-1") {
		t.Errorf("an index that is being split was closed: %v", err)
	}
	if shelves, err := r.store.PlacementView(r.ctx, "i"); err != nil || string(shelves.Transfer) != `{"movement":"m-1"}` || shelves.Version != 2 {
		t.Errorf("%+v, %v", shelves, err)
	}
	if _, err = change(func(p *placement.Placement) { p.Transfer = nil }); err != nil {
		t.Fatal(err)
	}
	if _, err = r.store.CloseIndices(r.ctx, expression([]string{"i"}, shown)); err != nil {
		t.Error(err)
	}
	if p, err = change(func(p *placement.Placement) { p.Last.Why = "closed" }); err != nil || p.Version != 4 {
		t.Errorf("%v, %v", p, err)
	}
	if err := r.store.DeleteIndices(r.ctx, expression([]string{"i"}, deleted)); err != nil {
		t.Fatal(err)
	}
	if _, err := change(func(p *placement.Placement) { p.Last.Why = "gone" }); !fault.Is(err, fault.NotFound) {
		t.Errorf("of an index that is gone: %v", err)
	}
	if _, err := r.store.PlacementOf(r.ctx, "i"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
