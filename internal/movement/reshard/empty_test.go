package reshard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

var books = catalog.Expression{Names: []string{"books"}}

// count is how many documents a search finds.
func (h *house) count() int64 {
	h.Helper()
	n, _, err := h.store.Count(h.ctx, store.Where{Expression: books}, nil)
	h.must(err)
	return n
}

// TestAnEmptyIndexIsSplitLoadedAndMerged: it is cut into four while nothing is in it, loaded while that goes on, and
// joined again; whoever counts meanwhile finds what was acknowledged.
func TestAnEmptyIndexIsSplitLoadedAndMerged(t *testing.T) {
	h := newHouse(t, 1)
	weighed := func(p placement.Placement) (placement.Plan, error) { return p.SplitInto(0, 4, placement.Weights{}) }
	id := h.begin(false, weighed) // planned of none
	var begun, acked atomic.Int64
	ctx, stop := context.WithCancel(h.ctx)
	var load sync.WaitGroup
	for who := range 2 {
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				begun.Add(1)
				w := document.Write{Operation: document.Index, Target: "books", ID: fmt.Sprintf("%d-%d", who, n), Condition: document.Always, Source: []byte(`{"n":1}`)}
				if a := h.store.Write(h.ctx, []document.Write{w}, document.AtOnce); a[0].Err != nil {
					t.Error(a[0].Err)
					return
				}
				acked.Add(1)
			}
		})
	}
	load.Go(func() {
		for ctx.Err() == nil {
			least := acked.Load()
			n, _, err := h.store.Count(h.ctx, store.Where{Expression: books}, nil)
			if most := begun.Load(); err != nil || n < least || n > most {
				t.Errorf("%d documents are found (%v), between %d and %d are there", n, err, least, most)
				return
			}
		}
	})
	m := h.work(id, movement.Finished)
	var told reshard.Progress
	h.must(json.Unmarshal(m.Report, &told))
	if len(told.Notes) != 1 {
		t.Errorf("the result has the notes %q", told.Notes)
	}
	if n := h.shards(); n != 4 {
		t.Errorf("%d shards", n)
	}
	h.work(h.begin(false, joinAll), movement.Finished)
	stop()
	load.Wait()
	if n := h.count(); n != acked.Load() {
		t.Errorf("%d documents are found, %d were acknowledged", n, acked.Load())
	}
	h.close()
	h.open()
	if n := h.count(); n != acked.Load() {
		t.Errorf("%d documents are found after a start, %d were acknowledged", n, acked.Load())
	}
}

// TestShardsWithoutDocumentsAreShardsLikeOthers: an index of a handful of documents is cut anywhere and joined anyhow,
// led back, written to and emptied, in any order; what is there is found after each step.
func TestShardsWithoutDocumentsAreShardsLikeOthers(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h, dice, there := newHouse(t, 1), rand.New(rand.NewPCG(seed, 16)), map[string]bool{}
			for range 10 {
				if id := fmt.Sprint(dice.IntN(6)); dice.IntN(3) == 0 {
					op := document.Index
					if there[id] {
						op = document.Delete
					}
					h.write(op, id)
					there[id] = op == document.Index
				}
				h.step(dice)
				n := int64(0)
				for id, is := range there {
					if is {
						n++
					}
					found, err := h.store.Get(h.ctx, document.Read{Target: "books", ID: id, Version: document.Unset})
					if err != nil || (len(found.Source) > 0) != is {
						t.Fatalf("%s: %q %v, expected %v", id, found.Source, err, is)
					}
				}
				if _, err := h.store.Refresh(h.ctx, books); err != nil || h.count() != n {
					t.Fatalf("%d documents are found (%v), expected %d", h.count(), err, n)
				}
			}
		})
	}
}

// step reshapes the index somehow, and leads some of that back.
func (h *house) step(dice *rand.Rand) {
	h.Helper()
	p, err := h.store.PlacementOf(h.ctx, "books")
	h.must(err)
	at := dice.IntN(len(p.Shards))
	plan := func(p placement.Placement) (placement.Plan, error) {
		s := p.Shards[at]
		switch {
		case at+1 < len(p.Shards) && dice.IntN(2) == 0:
			all := []uint32{s.Number}
			for _, next := range p.Shards[at+1 : min(at+1+1+dice.IntN(3), len(p.Shards))] {
				all = append(all, next.Number)
			}
			return p.Join(all, placement.Weights{})
		case dice.IntN(2) == 0:
			return p.SplitAt(s.Number, []routing.Key{s.Range.Middle()}, placement.Weights{})
		}
		return p.SplitInto(s.Number, 2+dice.IntN(3), placement.Weights{})
	}
	if back := dice.IntN(3) == 0; back {
		id := h.begin(true, plan)
		h.work(id, movement.Switched)
		h.tell(id, movement.Reverse)
		h.work(id, movement.Reversed)
		return
	}
	h.work(h.begin(false, plan), movement.Finished)
}
