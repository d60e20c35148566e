package reshard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// lying is an engine that tells of what it has staged something else than is so.
type lying struct {
	shard.Engine
	lie    func(staged *shard.Staged, to []shard.Incarnation) // nil: it tells the truth
	behind func(ctx context.Context) error                    // happens before it stages behind a fence; nil: nothing
}

func (e *lying) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	if _, fenced := ctx.Deadline(); fenced && e.behind != nil {
		if err := e.behind(ctx); err != nil {
			return nil, err
		}
	}
	staged, err := e.Engine.Stage(ctx, index, from, to)
	if err == nil && e.lie != nil {
		e.lie(staged, to)
	}
	return staged, err
}

// lies are what an engine may tell that has damaged what it shows, and the differences that
// are to be found: in CLONE, where segments are compared, and at H, where rows are.
var lies = map[string]struct {
	lie        func(staged *shard.Staged, to []shard.Incarnation)
	clone, atH map[reconcile.Class]int64
}{
	"a document is not shown": {
		func(s *shard.Staged, to []shard.Incarnation) { flip(s, to, "d2") },
		map[reconcile.Class]int64{reconcile.Missing: 1}, map[reconcile.Class]int64{reconcile.Missing: 1}},
	"a document that was deleted is shown": {
		func(s *shard.Staged, to []shard.Incarnation) { flip(s, to, "d0") },
		map[reconcile.Class]int64{reconcile.Ghost: 1}, map[reconcile.Class]int64{reconcile.Ghost: 1}},
	"a document is shown as it was before": {
		func(s *shard.Staged, to []shard.Incarnation) { flip(s, to, "d1") },
		map[reconcile.Class]int64{reconcile.Missing: 1, reconcile.Ghost: 1}, map[reconcile.Class]int64{reconcile.Stale: 1}},
	"a document is shown by two shards": {
		func(s *shard.Staged, to []shard.Incarnation) { showTwice(s, to, "d2") },
		map[reconcile.Class]int64{reconcile.Misplaced: 1}, map[reconcile.Class]int64{reconcile.Misplaced: 1}},
}

// flip hides what the shard of a document shows of it, and shows what it hides.
func flip(staged *shard.Staged, to []shard.Incarnation, id string) {
	for i, views := range staged.To {
		for j, v := range views {
			for doc := range segment.Doc(v.Docs()) {
				if v.ID(doc) == id && to[i].Range.Contains(v.Key(doc)) {
					views[j].Hidden = changed(views[j], doc, v.Shows(doc))
				}
			}
		}
	}
}

// showTwice lets another shard show what the shard of a document shows.
func showTwice(staged *shard.Staged, to []shard.Incarnation, id string) {
	for i, views := range staged.To {
		for j, v := range views {
			for doc := range segment.Doc(v.Docs()) {
				if v.ID(doc) == id && !to[i].Range.Contains(v.Key(doc)) && shows(staged.From[0], v.Segment, doc) {
					views[j].Hidden = changed(v, doc, false)
				}
			}
		}
	}
}

// shows tells whether a reader shows a doc of a segment.
func shows(r shard.Reader, s *segment.Segment, doc segment.Doc) bool {
	return slices.ContainsFunc(r.Views(), func(v segment.View) bool { return v.Segment == s && v.Shows(doc) })
}

// changed is what a view hides, and a doc of it, or not.
func changed(v segment.View, doc segment.Doc, hide bool) *segment.Bits {
	hidden := segment.NewBits(v.Docs())
	if v.Hidden != nil {
		hidden = v.Hidden.Clone()
	}
	if hidden.Clear(doc); hide {
		hidden.Set(doc)
	}
	return hidden
}

// lyingHouse has an engine that can lie, and documents of which d0 was deleted and d1 written
// again, each after it was in a segment file.
func lyingHouse(t *testing.T) (*house, *lying) {
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	e := &lying{Engine: engine}
	h := newHouseOn(t, 1, e)
	for n := range 40 {
		h.write(document.Index, fmt.Sprintf("d%d", n))
	}
	id := h.begin(false, by(2)) // what is staged is in files
	h.workBefore(id, reshard.PhaseSwitch)
	h.tell(id, movement.Pause)
	h.tell(id, movement.Reverse)
	h.work(id, movement.Reversed)
	h.write(document.Delete, "d0")
	h.write(document.Index, "d1")
	return h, e
}

func (h *house) write(operation document.Operation, id string) {
	h.Helper()
	w := document.Write{Operation: operation, Target: "books", ID: id, Condition: document.Always}
	if operation != document.Delete {
		w.Source = []byte(`{"n":1}`)
	}
	h.must(h.store.Write(h.ctx, []document.Write{w}, document.Eventually)[0].Err)
}

// found is what a movement at rest tells of its comparisons.
func (h *house) found(id string) *reshard.Progress {
	h.Helper()
	m, err := h.driver.Movement(h.ctx, id)
	h.must(err)
	p, err := reshard.ProgressOf(h.ctx, h.driver, &m, h.store.Placement)
	h.must(err)
	return p
}

// TestADifferenceInCloneForbidsTheHandOff: the movement holds with the difference by its class,
// nothing was handed off, and abort leaves what was there.
func TestADifferenceInCloneForbidsTheHandOff(t *testing.T) {
	for name, c := range lies {
		t.Run(name, func(t *testing.T) {
			h, e := lyingHouse(t)
			e.lie = c.lie
			id := h.begin(false, by(2))
			h.work(id, movement.Held)
			if p := h.found(id); !maps.Equal(p.Cloned.Counts, c.clone) || len(p.Cloned.Examples) == 0 || len(p.Pauses) > 0 {
				t.Errorf("%+v", p)
			}
			if p, err := h.store.PlacementOf(h.ctx, "books"); err != nil || len(p.Shards) != 1 {
				t.Errorf("%v %v", p, err)
			}
			h.tell(id, movement.Abort)
			h.work(id, movement.Aborted)
			if n := h.shards(); n != 1 {
				t.Errorf("%d shards", n)
			}
		})
	}
}

// TestADifferenceBetweenTwoHandOffsForbidsTheNext: the first does not fit the budget, and what is cloned again before the
// next differs. No other fence goes up, and the movement holds with the difference.
func TestADifferenceBetweenTwoHandOffsForbidsTheNext(t *testing.T) {
	for name, c := range lies {
		t.Run(name, func(t *testing.T) {
			h, e := lyingHouse(t)
			h.budget = 500 * time.Millisecond
			fences := 0
			e.behind = func(ctx context.Context) error {
				if fences++; fences > 1 {
					return nil
				}
				e.lie = c.lie
				<-ctx.Done()
				return context.Cause(ctx)
			}
			id := h.begin(false, by(2))
			m := h.work(id, movement.Held)
			if fences != 1 || !strings.Contains(m.Cause, "differences between the shards and what they would become: nothing was handed off") {
				t.Errorf("%d fences: %s", fences, m.Cause)
			}
			if p := h.found(id); !maps.Equal(p.Cloned.Counts, c.clone) || len(p.Pauses) > 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestADifferenceAtTheHandOffForbidsToFinish: the movement holds with the difference by its class
// and cannot be finished; it can be led back, and when a later comparison finds nothing, it ends.
func TestADifferenceAtTheHandOffForbidsToFinish(t *testing.T) {
	for name, c := range lies {
		t.Run(name, func(t *testing.T) {
			h, e := lyingHouse(t)
			for _, end := range []movement.State{movement.Reversed, movement.Finished} {
				id := h.begin(false, by(2))
				h.workBefore(id, reshard.PhaseSwitch)
				e.lie = c.lie
				h.work(id, movement.Held)
				if p := h.found(id); !maps.Equal(p.Compared.Counts, c.atH) || len(p.Compared.Examples) == 0 {
					t.Errorf("%+v", p)
				}
				e.lie = nil
				h.tell(id, movement.Resume) // which does not look again
				h.work(id, movement.Held)
				if _, _, err := h.driver.Apply(h.ctx, id, movement.Event{Verb: movement.Finish, By: "test"}); err == nil {
					t.Error("it was finished with differences")
				}
				verb := map[movement.State]movement.Verb{movement.Reversed: movement.Reverse, movement.Finished: movement.Verify}[end]
				h.tell(id, verb)
				m := h.work(id, end)
				var told reshard.Progress
				h.must(json.Unmarshal(m.Report, &told))
				if end == movement.Finished && (told.Compared.Differences() > 0 || told.Compared.Documents != 39) {
					t.Errorf("%s", m.Report)
				}
			}
			if n := h.shards(); n != 2 {
				t.Errorf("%d shards", n)
			}
		})
	}
}
