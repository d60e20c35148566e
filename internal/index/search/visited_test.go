package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// TestSourcesThatShareSegments: several that show parts of the same segments find what one finds
// that shows all of them, with the same scores, in the same order, and as many visits; each hit
// is told of the source that shows it.
func TestSourcesThatShareSegments(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		w := newWorld(rt, r, []int{rapid.SampledFrom([]int{5, 300, 5000}).Draw(rt, "size"), 70}, rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "hides"))
		var all []segment.View
		for _, s := range w.index.Sources {
			all = append(all, s.Views...)
		}
		whole, parts := *w, *w
		whole.index.Sources = []Source{{Views: all}}
		parts.index.Sources = nil
		for i, within := range routing.Equal(rapid.IntRange(2, 4).Draw(rt, "parts")) {
			s := Source{Shard: uint32(i), Within: within}
			for _, v := range all {
				out := v.OutOf(within)
				if v.Hidden != nil {
					out.Add(v.Hidden)
				}
				s.Views = append(s.Views, segment.View{Segment: v.Segment, Hidden: out})
			}
			parts.index.Sources = append(parts.index.Sources, s)
		}
		for range 4 {
			p := (&drawn{r, ""}).plan(2)
			if r.IntN(4) == 0 {
				p = allPlan{1}
			}
			var visits [2]everything
			request := Request{Size: r.IntN(30), TrackTotal: -1}
			if r.IntN(2) == 0 {
				request.Sort = []Sort{{Field: "_doc"}}
			}
			want, got := whole.run(rt, p, request), parts.run(rt, p, request)
			if got.Total != want.Total || !slices.EqualFunc(got.Hits, want.Hits, sameHit) {
				rt.Fatalf("%d of %d instead of %d of %d", len(got.Hits), got.Total, len(want.Hits), want.Total)
			}
			for i, h := range got.Hits {
				s := parts.index.Sources[h.Source]
				if !s.Views[h.View].Shows(h.Doc) || !s.Within.Contains(h.Key) || h.Score != want.Hits[i].Score {
					rt.Fatalf("%s, of score %v instead of %v, is told of source %d", h.ID, h.Score, want.Hits[i].Score, h.Source)
				}
			}
			for i, w := range []world{whole, parts} {
				request.Collectors = []Collector{&visits[i]}
				w.run(rt, p, request)
			}
			if len(visits[1].docs) != len(all) || !slices.EqualFunc(visits[0].docs, visits[1].docs, slices.Equal) {
				rt.Fatalf("%d views were visited for %d segments, or other docs were told", len(visits[1].docs), len(all))
			}
		}
	})
}
