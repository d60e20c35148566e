package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// withKnown gives searches a cache of their own, with these limits of bytes, until the test ends.
func withKnown(t testing.TB, one, all int64) *setCache {
	was, wasOne, wasAll := knownSets, knownLimit, allKnownLimit
	t.Cleanup(func() { knownSets, knownLimit, allKnownLimit = was, wasOne, wasAll })
	knownSets, knownLimit, allKnownLimit = newSetCache(), one, all
	return knownSets
}

// TestWhatIsKnownChangesNothing: searches find the same with the same scores, whether nothing is kept of
// those before, little, or all, and also when other segments of the index were searched between.
func TestWhatIsKnownChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		sizes := make([]int, rapid.IntRange(manySegments, 20).Draw(rt, "views"))
		for i := range sizes {
			sizes[i] = 1 + r.IntN(60)
		}
		w := newWorld(rt, r, sizes, rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "hides"))
		other := newWorld(rt, r, sizes, 0)
		var plans []plan
		var wanted []Result
		for range 4 {
			p := (&drawn{r, ""}).plan(2)
			withKnown(t, 0, 0)
			plans, wanted = append(plans, p), append(wanted, w.run(rt, p, Request{Size: 20, TrackTotal: -1}))
		}
		limit := rapid.SampledFrom([]int64{2000, 20_000, 1 << 20}).Draw(rt, "limit")
		withKnown(t, limit, 2*limit)
		for range 3 {
			for i, p := range plans {
				got := w.run(rt, p, Request{Size: 20, TrackTotal: -1})
				if got.Total != wanted[i].Total || !slices.EqualFunc(got.Hits, wanted[i].Hits, sameInAll) {
					rt.Fatalf("%#v: %v of %d instead of %v of %d", p, ids(got.Hits), got.Total, ids(wanted[i].Hits), wanted[i].Total)
				}
				other.run(rt, p, Request{Size: 5})
			}
		}
	})
}

// TestWhatIsKnownIsBounded: a set that takes too much is not kept, and of all sets those that were used
// last are, as far as there is room.
func TestWhatIsKnownIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	segments := func() (all []*segment.Segment) {
		for _, v := range newWorld(t, r, []int{3, 3, 3, 3, 3, 3, 3, 3}, 0).views() {
			all = append(all, v.Segment)
		}
		return all
	}
	cache := withKnown(t, 10_000, 1<<20)
	first, second := segments(), segments()
	set := cache.get(first)
	if cache.get(first) != set || cache.get(second) == set || cache.get(second) != cache.get(slices.Clone(second)) {
		t.Error("the same segments have one set, and others another")
	}
	if turned := slices.Clone(first); cache.get(append(turned[1:], turned[0])) == set {
		t.Error("the same segments in another order have the same set: entries are by their places")
	}
	for i := range 100 {
		set.learnTerm(termName{"f", fmt.Sprint(i)}, &termStatistics{entries: make([]segment.Entry, len(first))})
		if kept := cache.get(first) == set; kept != (cache.bytesOf(set) > 0) || !kept && i < 5 {
			t.Fatalf("kept is %v after %d terms", kept, i+1)
		} else if !kept {
			break
		} else if i == 99 {
			t.Error("a set of 100 terms is kept")
		}
	}
	if set.term(termName{"f", "0"}) == nil {
		t.Error("a search that has the set does not know what it has found itself")
	}
	allKnownLimit = 25_000
	kept := cache.get(first)
	for range 50 {
		s := cache.get(segments())
		for i := range 10 {
			s.learnTerm(termName{"f", fmt.Sprint(i)}, &termStatistics{entries: make([]segment.Entry, len(first))})
		}
		if cache.get(first) != kept {
			t.Fatal("the set that was used last is not kept")
		}
		if cache.bytes > allKnownLimit || len(cache.sets) != len(cache.where) || len(cache.sets) != cache.used.Len() {
			t.Fatalf("%d bytes, %d sets by segments, %d by themselves, %d in the order of their use", cache.bytes, len(cache.sets), len(cache.where), cache.used.Len())
		}
	}
	if n := len(cache.sets); n > 10 {
		t.Errorf("%d sets are kept", n)
	}
}

// bytesOf is how many bytes a set takes in the cache; 0 when it is not there.
func (c *setCache) bytesOf(set *segmentSet) int64 {
	if e := c.where[set]; e != nil {
		return e.Value.(*keptSet).bytes
	}
	return 0
}

// TestFiltersAreLookedUpWhileTheyAreKept: a search with very many terms that only filter does not look all
// of them up before it begins.
func TestFiltersAreLookedUpWhileTheyAreKept(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(4, 2)), []int{30, 30, 30, 30, 30, 30, 30, 30, 30, 30}, 0)
	const fits = 5
	withKnown(t, 4*fits*10*entryBytes, 1<<20)
	p := &boolPlan{}
	for i := range 40 {
		p.filter = append(p.filter, &termPlan{field: "word", term: fmt.Appendf(nil, "w%d", i)})
	}
	if s := gatherStatistics(w.views(), p, false); len(s.leaves) != fits {
		t.Errorf("%d of 40 terms were looked up, expected %d", len(s.leaves), fits)
	}
	p.must, p.filter = p.filter, nil
	if s := gatherStatistics(w.views(), p, true); len(s.leaves) != 40 {
		t.Errorf("%d of 40 terms that are scored were looked up", len(s.leaves))
	}
}
