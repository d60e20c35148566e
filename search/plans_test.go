package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/segment"
	"pgregory.net/rapid"
)

// randomPlan draws a tree.
func randomPlan(r *rand.Rand, depth int) plan {
	kinds := 6
	if depth > 0 {
		kinds = 12
	}
	switch r.IntN(kinds) {
	case 0, 1:
		return &termPlan{field: pick(r, "text", "tag"), term: []byte(randomWord(r)), boost: pick[float32](r, 1, 2, 0.3)}
	case 2:
		return &constantPlan{&termsPlan{pick(r, "text", "tag"), randomTerms(r)}, 1.5}
	case 3:
		return &constantPlan{&numbersPlan{field: thingsField("n"), intervals: randomIntervals(r)}, 1}
	case 4:
		return &constantPlan{&existsPlan{[]string{pick(r, "text", "tag", "n")}}, 0.5}
	case 5:
		if r.IntN(3) > 0 {
			return allPlan{1}
		}
		return &constantPlan{&idsPlan{[]string{fmt.Sprint("id", r.IntN(100)), "id7"}}, 1}
	case 6:
		return &maxPlan{of: randomPlans(r, 3, depth-1), tie: pick[float32](r, 0, 0.3, 1)}
	}
	p := &boolPlan{
		must: randomPlans(r, 2, depth-1), filter: randomPlans(r, 2, depth-1),
		should: randomPlans(r, 4, depth-1), mustNot: randomPlans(r, r.IntN(3), depth-1),
	}
	p.minShould = r.IntN(3)
	if len(p.must)+len(p.filter) == 0 {
		if len(p.should) == 0 {
			p.filter = []plan{allPlan{0}}
		} else {
			p.minShould = max(1, p.minShould)
		}
	}
	return p
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// randomPlans draws up to n plans.
func randomPlans(r *rand.Rand, n, depth int) (plans []plan) {
	for range r.IntN(n + 1) {
		plans = append(plans, randomPlan(r, depth))
	}
	return plans
}

func randomTerms(r *rand.Rand) (terms [][]byte) {
	for _, word := range vocabulary {
		if r.IntN(3) == 0 {
			terms = append(terms, []byte(word))
		}
	}
	return terms
}

func randomIntervals(r *rand.Rand) (list []interval) {
	for at := r.Int64N(50); at < 100 && len(list) < 3; {
		end := at + r.Int64N(20)
		list = append(list, interval{at, end})
		at = end + 2 + r.Int64N(40)
	}
	return list
}

// everything is a collector that remembers what it is told.
type everything struct {
	docs   [][]segment.Doc // of each view
	scores [][]float32
}

func (e *everything) NeedsScores() bool { return true }
func (e *everything) Begin(Place) (Leaf, error) {
	e.docs, e.scores = append(e.docs, nil), append(e.scores, nil)
	return e, nil
}
func (e *everything) Collect(doc segment.Doc, score func() float32) error {
	i := len(e.docs) - 1
	e.docs[i], e.scores[i] = append(e.docs[i], doc), append(e.scores[i], score())
	return nil
}

// run looks for a plan.
func (w *world) run(t rapid.TB, p plan, r Request) Result {
	c := &Context{ctx: context.Background(), request: &r, indices: []Index{w.index}}
	one := &work{index: &c.indices[0]}
	for _, source := range w.index.Sources {
		one.views = append(one.views, source.Views...)
	}
	one.query = &ready{plan: p, stats: gatherStatistics(one.views, p, c.scored())}
	c.work = []*work{one}
	result, err := c.search()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestPlansFindWhatTheModelFinds compares random trees over random segments: which docs
// are found and with what scores, how many, and which are best, with and without skipping.
func TestPlansFindWhatTheModelFinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		sizes := rapid.SampledFrom([][]int{{5}, {70, 0, 3}, {400}, {3000}, {2100, 300}}).Draw(rt, "sizes")
		w := newWorld(t, r, sizes, rapid.SampledFrom([]float64{0, 0.1, 0.9}).Draw(rt, "hides"))
		for range 4 {
			p := randomPlan(r, 2)
			compare(rt, w, p, r.IntN(20))
		}
	})
}

func compare(t *rapid.T, w *world, p plan, size int) {
	want := w.search(p)
	var all everything
	w.run(t, p, Request{TrackTotal: -1, Collectors: []Collector{&all}})
	if got := all.hits(); !slices.EqualFunc(want, got, sameDoc) {
		t.Fatalf("%s\ngot %v\nwant %v", describe(p), got, want)
	}
	bestFirst(want)
	for _, limit := range []int64{-1, 0, 3, int64(len(want)), 10000} {
		got := w.run(t, p, Request{Size: size, TrackTotal: limit})
		total, atLeast := int64(len(want)), false
		if limit >= 0 && total > limit {
			total, atLeast = limit, true
		}
		if got.Total != total && limit != 0 || got.AtLeast != atLeast && limit != 0 {
			t.Fatalf("%s\ntotal up to %d: got %d (%v), want %d (%v)", describe(p), limit, got.Total, got.AtLeast, total, atLeast)
		}
		for i := range min(size, len(want)) {
			if i >= len(got.Hits) || got.Hits[i].ID != want[i].id || got.Hits[i].Score != want[i].score {
				t.Fatalf("%s\nlimit %d, hit %d of %d: got %+v\nwant %+v", describe(p), limit, i, size, got.Hits, want[:min(size, len(want))])
			}
		}
		if len(got.Hits) != min(size, len(want)) {
			t.Fatalf("%s\n%d hits, want %d", describe(p), len(got.Hits), min(size, len(want)))
		}
	}
}

// hits are the docs in the order in which they came.
func (e *everything) hits() (hits []modelHit) {
	for i, docs := range e.docs {
		for j, doc := range docs {
			hits = append(hits, modelHit{view: i, doc: doc, score: e.scores[i][j]})
		}
	}
	return hits
}

func sameDoc(a, b modelHit) bool { return a.view == b.view && a.doc == b.doc && a.score == b.score }
