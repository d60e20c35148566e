package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// TestPagesByKey: pages of all documents, each behind the one before, are those that are
// found doc by doc, with what is hidden left out, and together they are everything once.
func TestPagesByKey(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, hides := range []float64{0, 0.1, 0.999} {
		w := newWorld(t, r, []int{9000, 20, 5000}, hides)
		for _, of := range []Request{
			{Size: 700}, {Size: 3000}, {Size: 1}, {Size: 700, Slice: &Slice{Field: "_id", ID: 1, Max: 3}},
			{Size: 3000, Slice: &Slice{Max: 64}}, {Size: 500, Slice: &Slice{Field: "n", ID: 1, Max: 2}},
		} {
			seen, size, request := map[string]bool{}, of.Size, of
			request.TrackTotal, request.Sort = -1, []Sort{{Field: "_doc"}}
			for pages := 0; ; pages++ {
				got := w.run(t, allPlan{1}, request)
				slowly := request
				slowly.Collectors = []Collector{&everything{}} // which must be told each doc
				want := w.run(t, allPlan{1}, slowly)
				if got.Total != want.Total || !slices.EqualFunc(got.Hits, want.Hits, sameHit) {
					t.Fatalf("page %d of %d: got %d hits of %d, or others than %d of %d", pages, size, len(got.Hits), got.Total, len(want.Hits), want.Total)
				}
				for _, h := range got.Hits {
					if seen[h.ID] {
						t.Fatalf("%s is on two pages", h.ID)
					}
					seen[h.ID] = true
				}
				if len(got.Hits) < size && len(seen) != int(want.Total) {
					t.Fatalf("%d of %d documents were on pages of %d", len(seen), want.Total, size)
				}
				if len(got.Hits) < size || size == 1 && pages == 40 {
					break
				}
				request.After = got.Hits[len(got.Hits)-1].Sort
			}
		}
		first := w.run(t, &constantPlan{allPlan{1}, 2}, Request{Size: 50, TrackTotal: 10})
		slowly := w.run(t, &constantPlan{allPlan{1}, 2}, Request{Size: 50, TrackTotal: 10, Collectors: []Collector{&everything{}}})
		if !slices.EqualFunc(first.Hits, slowly.Hits, sameHit) || first.Total != slowly.Total || first.AtLeast != slowly.AtLeast || *first.MaxScore != *slowly.MaxScore {
			t.Fatalf("%d hits of %d, or others than %d of %d", len(first.Hits), first.Total, len(slowly.Hits), slowly.Total)
		}
	}
}

// TestPagesOfPartsOfTheKeys: a shard that owns some keys reads its first page from a span of
// them, whether its segment holds those of others too, as right after a split, or not.
func TestPagesOfPartsOfTheKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	w := newWorld(t, r, []int{9000}, 0)
	all := w.things[0]
	whole := w.index.Sources[0].Views[0].Segment
	for _, within := range append(routing.Equal(8), routing.Range{From: 1 << 62, To: 1<<62 + 1<<60}) {
		var own []*thing
		for _, one := range all {
			if within.Contains(keyOf(one.id)) {
				own = append(own, one)
			}
		}
		for name, view := range map[string]segment.View{
			"shared": {Segment: whole, Hidden: whole.OutOf(within)},
			"alone":  {Segment: build(t, own)},
		} {
			v := &visited{within: within, view: view}
			k := &sink{accept: shownRoots(view)}
			docs, ok := k.page(v, &wantedKeys{last: math.MaxUint64, size: 10})
			if !ok || len(docs) < 10 || len(docs) > 20 {
				t.Errorf("%s, keys %v: a page of 10 has %d docs, %v", name, within, len(docs), ok)
			}
			last := routing.Key(0)
			for _, doc := range docs {
				last = max(last, view.Key(doc))
			}
			first := 0
			for doc := range segment.Doc(view.Docs()) {
				if k.accept.Has(doc) && view.Key(doc) <= last {
					first++
				}
			}
			if first != len(docs) {
				t.Errorf("%s, keys %v: %d docs have keys up to the last of a page of %d", name, within, first, len(docs))
			}
		}
	}
}

func sameHit(a, b Hit) bool {
	return a.ID == b.ID && a.Doc == b.Doc && a.Key == b.Key && slices.EqualFunc(a.Sort, b.Sort, func(v, w SortValue) bool { return string(v.Text) == string(w.Text) })
}
