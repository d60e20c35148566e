package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"pgregory.net/rapid"
)

// ids are those of hits with their scores, in order.
func ids(hits []Hit) (list []string) {
	for _, h := range hits {
		list = append(list, fmt.Sprint(h.ID, " ", h.Score))
	}
	return list
}

// TestAViewIsASegmentOfWhatItShows compares a view that hides documents with a segment that
// was built of the others alone, whose scores are worked out with the statistics of the view.
func TestAViewIsASegmentOfWhatItShows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		hides := rapid.SampledFrom([]float64{0.05, 0.5, 0.95}).Draw(rt, "hides")
		masked := newWorld(rt, r, []int{rapid.SampledFrom([]int{20, 300, 2500}).Draw(rt, "size")}, hides)
		left := masked.left(rt)
		for range 4 {
			p := (&drawn{r, ""}).plan(2)
			request := Request{Size: r.IntN(30), TrackTotal: pick[int64](r, -1, 0, 10, 10000)}
			want := masked.run(rt, p, request)
			c := left.prepared(p, &request)
			maps.Copy(c.work[0].query.stats.leaves, rescored(c.work[0].query.stats.leaves, gatherStatistics(masked.views(), p, true).leaves))
			got, err := c.search()
			if err != nil {
				rt.Fatal(err)
			}
			if !slices.Equal(ids(got.Hits), ids(want.Hits)) || request.TrackTotal != 0 && got.Total != want.Total {
				rt.Fatalf("%s\nthe view %d %v\nthe segment %d %v", describe(p), want.Total, ids(want.Hits), got.Total, ids(got.Hits))
			}
		}
	})
}

// left is a world of one segment with the documents that are shown.
func (w *world) left(t rapid.TB) *world {
	left := &world{index: Index{Number: w.index.Number, Name: "left", Schema: thingsSchema}, counts: map[string]counts{}}
	var things []*thing
	for _, view := range w.shown {
		for _, one := range view {
			things = append(things, one.thing)
		}
	}
	left.things = [][]*thing{things}
	left.view(0, build(t, things), things, func(*thing) bool { return true })
	return left
}

func (w *world) views() (views []segment.View) {
	for _, s := range w.index.Sources {
		views = append(views, s.Views...)
	}
	return views
}

// rescored are leaves with the scores of others.
func rescored(leaves, scores map[plan]*leaf) map[plan]*leaf {
	out := map[plan]*leaf{}
	for p, l := range leaves {
		out[p] = &leaf{terms: l.terms, scores: scores[p].scores}
	}
	return out
}

// TestEightOwnersAreOneIndex compares an index of one shard with the same segment shared by
// eight, each of which shows an eighth.
func TestEightOwnersAreOneIndex(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 4))
		one := newWorld(rt, r, []int{rapid.SampledFrom([]int{20, 300, 2500}).Draw(rt, "size")}, 0.1)
		whole := one.views()[0]
		eight := &world{index: one.index}
		eight.index.Sources = nil
		for i, owned := range routing.Equal(8) {
			hidden := whole.OutOf(owned)
			if whole.Hidden != nil {
				for doc := whole.Hidden.Next(0); doc != end; doc = whole.Hidden.Next(doc + 1) {
					hidden.Set(doc)
				}
			}
			eight.index.Sources = append(eight.index.Sources, Source{Shard: uint32(i), Views: []segment.View{{Segment: whole.Segment, Hidden: hidden}}})
		}
		for range 4 {
			p := (&drawn{r, ""}).plan(2)
			request := Request{Size: r.IntN(30), TrackTotal: pick[int64](r, -1, 10, 10000)}
			if r.IntN(2) == 0 {
				request.Sort = []Sort{randomSort(r), randomSort(r)}
			}
			want, got := one.run(rt, p, request), eight.run(rt, p, request)
			if !slices.Equal(ids(got.Hits), ids(want.Hits)) || got.Total != want.Total || got.AtLeast != want.AtLeast {
				rt.Fatalf("%s by %+v\none %d %v\neight %d %v", describe(p), request.Sort, want.Total, ids(want.Hits), got.Total, ids(got.Hits))
			}
		}
	})
}

// TestMatchersFindRootsAndChildren compares the docs of a matcher with the model.
func TestMatchersFindRootsAndChildren(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 5))
		w := newWorld(rt, r, []int{rapid.SampledFrom([]int{5, 200}).Draw(rt, "size")}, 0.2)
		p := (&drawn{r, pick(r, "", "kids")}).plan(2)
		c := w.prepared(p, &Request{})
		v := w.views()[0]
		got, err := matching{c, c.work[0], &ready{plan: p, stats: gatherStatistics(w.views(), p, false)}}.Docs(v)
		if err != nil {
			rt.Fatal(err)
		}
		doc := segment.Doc(0)
		w.all(func(one *thing) {
			want, _ := w.finds(p, one)
			if want = want && v.Shows(doc); got.Has(doc) != want {
				rt.Fatalf("%s\ndoc %d of %q: got %v", describe(p), doc, one.path, got.Has(doc))
			}
			doc++
		})
	})
}

// TestSlicesPartTheDocuments asks for all parts of a search, by id and by a number.
func TestSlicesPartTheDocuments(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)), []int{300, 100}, 0.1)
	for _, field := range []string{"_id", "n"} {
		seen := map[string]int{}
		for id := range 5 {
			got := w.run(t, allPlan{1}, Request{Size: 1000, TrackTotal: -1, Slice: &Slice{Field: field, ID: id, Max: 5}})
			if len(got.Hits) != int(got.Total) || len(got.Hits) == 0 {
				t.Errorf("slice %d by %s has %d hits of %d", id, field, len(got.Hits), got.Total)
			}
			for _, h := range got.Hits {
				seen[h.ID]++
			}
		}
		if whole := w.run(t, allPlan{1}, Request{TrackTotal: -1}); len(seen) != int(whole.Total) {
			t.Errorf("the slices by %s have %d documents of %d", field, len(seen), whole.Total)
		}
	}
}

// TestASearchThatIsGivenUpEnds cancels before the first doc.
func TestASearchThatIsGivenUpEnds(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)), []int{300}, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q := &Term{Common: Common{Boost: 1}, Field: "tag", Value: *absent("a")}
	if _, err := Run(ctx, []Index{w.index}, Request{Query: q, Size: 10, TrackTotal: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestADamagedSegmentIsAnErrorOrDoesNotMatter flips bytes all over a segment: a search either
// tells the damage, or finds what it found before.
func TestADamagedSegmentIsAnErrorOrDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var things []*thing
	for i := range 400 {
		things = append(things, newThing(r, fmt.Sprint("id", i)))
	}
	b := segment.NewBuilder()
	for i, one := range things {
		write(t, b, one)
		b.EndRoot(segment.Identity{Key: keyOf(one.id), ID: one.id, SeqNo: int64(i)})
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	run := func(data []byte) (string, error) {
		s, err := segment.Open(data)
		if err != nil {
			return "", err
		}
		index := Index{Number: 1, Schema: thingsSchema, Sources: []Source{{Views: []segment.View{{Segment: s}}}}}
		q := &Bool{Common: Common{Boost: 1}, Should: []Query{
			&MatchPhrase{Common: Common{Boost: 1}, Field: "text", Text: *absent("a b")},
			&Term{Common: Common{Boost: 1}, Field: "tag", Value: *absent("b")},
			&Exists{Common: Common{Boost: 1}, Field: "n"},
		}}
		got, err := Run(context.Background(), []Index{index}, Request{Query: q, Size: 20, TrackTotal: -1, Sort: []Sort{{Field: "n"}, {Field: "_score", Descending: true}}})
		return fmt.Sprint(got.Total, ids(got.Hits)), err
	}
	want, err := run(data)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for range 300 {
		broken := slices.Clone(data)
		at := r.IntN(len(data))
		broken[at] ^= 1 << r.IntN(8)
		got, err := run(broken)
		if err != nil {
			told++
		} else if got != want {
			t.Fatalf("byte %d: got %s\nwant %s", at, got, want)
		}
		if kind := fault.KindOf(err); err != nil && kind != fault.Corrupt && kind != fault.Refused {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	if told < 100 {
		t.Errorf("damage was told %d times", told)
	}
}
