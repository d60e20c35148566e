package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/segment"
	"pgregory.net/rapid"
)

// drawn draws trees of plans for the documents of a world, or the objects of a nested field.
type drawn struct {
	*rand.Rand
	path string
}

// name is a field beside others.
func (d *drawn) name(names ...string) string {
	name := pick(d.Rand, names...)
	if d.path != "" {
		return d.path + "." + name
	}
	return name
}

// plan draws a tree.
func (d *drawn) plan(depth int) plan {
	kinds := 9
	if depth > 0 {
		kinds = 18
	}
	boost := pick[float32](d.Rand, 1, 2, 0.3)
	switch d.IntN(kinds) {
	case 0, 1:
		return &termPlan{field: d.name("text", "tag"), term: []byte(randomWord(d.Rand)), boost: boost}
	case 2:
		return &constantPlan{&termsPlan{d.name("text", "tag", "kind", "bare"), manyTermsOf(d.Rand)}, 1.5}
	case 3:
		return &constantPlan{&numbersPlan{field: thingsField(d.name("n")), intervals: randomIntervals(d.Rand)}, 1}
	case 4:
		return &constantPlan{&existsPlan{[]string{d.name("text", "tag", "n"), d.name("tag")}}, 0.5}
	case 5:
		if d.IntN(3) > 0 {
			return allPlan{1}
		}
		return &constantPlan{&idsPlan{[]string{fmt.Sprint("id", d.IntN(100)), "id7"}}, 1}
	case 6:
		return &synonymsPlan{field: d.name("text"), terms: append(randomTerms(d.Rand), []byte("h")), boost: boost}
	case 7:
		return d.phrase(boost)
	case 8:
		prefix := pick(d.Rand, "a", "ab", "b", "")
		accept, err := automaton.Prefix("", prefix, false)
		if err != nil {
			panic(err)
		}
		return &constantPlan{&wordsPlan{d.name("text", "tag", "kind", "bare"), accept, prefix}, 1}
	case 9:
		return &maxPlan{of: d.plans(3, depth-1), tie: pick[float32](d.Rand, 0, 0.3, 1)}
	case 10:
		return &boostingPlan{d.plan(depth - 1), d.plan(depth - 1), 0.3, boost}
	case 11:
		return d.function(depth)
	case 12:
		return d.nested(depth)
	}
	return d.bool(depth)
}

func (d *drawn) bool(depth int) plan {
	p := &boolPlan{
		must: d.plans(2, depth-1), filter: d.plans(2, depth-1),
		should: d.plans(4, depth-1), mustNot: d.plans(d.IntN(3), depth-1),
	}
	p.minShould = d.IntN(3)
	if len(p.must)+len(p.filter) == 0 {
		if len(p.should) == 0 {
			p.filter = []plan{allPlan{0}}
		} else {
			p.minShould = max(1, p.minShould)
		}
	}
	return p
}

func (d *drawn) phrase(boost float32) plan {
	p := &phrasePlan{field: d.name("text"), boost: boost}
	at := 0
	for range 2 + d.IntN(2) {
		terms := [][]byte{[]byte(randomWord(d.Rand))}
		if other := []byte(randomWord(d.Rand)); d.IntN(4) == 0 && string(other) != string(terms[0]) {
			terms = append(terms, other)
		}
		p.words = append(p.words, word{at, terms})
		at += 1 + d.IntN(4)/3
	}
	return p
}

func (d *drawn) nested(depth int) plan {
	p := &nestedPlan{path: "kids", around: d.path, mode: pick(d.Rand, "avg", "sum", "min", "max", "none"), boost: 1}
	if d.path == "kids" || d.path == "" && d.IntN(3) == 0 {
		p.path = "kids.toys"
	}
	if d.path == "kids.toys" {
		return nonePlan{}
	}
	p.of = (&drawn{d.Rand, p.path}).plan(depth - 1)
	return p
}

func (d *drawn) function(depth int) plan {
	s := &FunctionScore{
		ScoreMode: pick(d.Rand, "multiply", "sum", "avg", "first", "max", "min"),
		BoostMode: pick(d.Rand, "multiply", "replace", "sum", "max", "min"),
	}
	p := &functionPlan{score: s, of: d.plan(depth - 1)}
	if d.IntN(3) == 0 {
		s.MinScore = ptr[float32](1)
	}
	for range d.IntN(3) {
		f := Function{}
		if d.IntN(2) == 0 {
			f.Weight = ptr(pick[float32](d.Rand, 2, 0.5))
		}
		var value valuer
		if f.Weight == nil || d.IntN(2) == 0 {
			f.Factor = &FieldFactor{Field: "n", Factor: 1, Missing: ptr(2.0)}
			value = &factorValue{*f.Factor, thingsField("n")}
		}
		var filter plan
		if d.IntN(2) == 0 {
			filter = d.plan(0)
		}
		s.Functions, p.filter, p.values = append(s.Functions, f), append(p.filter, filter), append(p.values, value)
	}
	return p
}

func ptr[T any](v T) *T { return &v }

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// plans draws up to n plans.
func (d *drawn) plans(n, depth int) (plans []plan) {
	for range d.IntN(n + 1) {
		plans = append(plans, d.plan(depth))
	}
	return plans
}

func randomTerms(r *rand.Rand) (terms [][]byte) {
	for _, word := range vocabulary {
		if r.IntN(3) == 0 {
			terms = append(terms, []byte(word))
		}
	}
	slices.SortFunc(terms, bytes.Compare)
	return terms
}

// manyTermsOf are some words, or from a few to all of the rare ones too.
func manyTermsOf(r *rand.Rand) [][]byte {
	terms := randomTerms(r)
	share := pick(r, 0, 0, 0.001, 0.02, 0.5, 1, 1)
	for i := range rareWords {
		if r.Float64() < share {
			terms = append(terms, []byte(rareWord(i)))
		}
	}
	slices.SortFunc(terms, bytes.Compare)
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

// prepared is a search for a plan.
func (w *world) prepared(p plan, r *Request) *Context {
	c := &Context{ctx: context.Background(), request: r, indices: []Index{w.index}, failed: new(failure)}
	one := &work{index: &c.indices[0], visits: w.index.visits(0), views: w.index.views()}
	one.query = &ready{plan: p, told: p, stats: gatherStatistics(one.views, p, c.scored())}
	c.work = []*work{one}
	return c
}

// run looks for a plan.
func (w *world) run(t rapid.TB, p plan, r Request) Result {
	c := w.prepared(p, &r)
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
			p := (&drawn{r, ""}).plan(2)
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
