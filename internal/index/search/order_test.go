package search

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// randomSort draws a key.
func randomSort(r *rand.Rand) Sort {
	s := Sort{Field: pick(r, "n", "n", "tag", "tag", "_score", "_doc", "_id"), Descending: r.IntN(2) == 0}
	switch s.Field {
	case "n":
		s.Mode = pick(r, "", "min", "max", "avg", "sum", "median")
		s.Missing = pick(r, nil, nil, absent("_first"), absent("_last"), absent("50"))
	case "tag":
		s.Mode = pick(r, "", "min", "max")
		s.Missing = pick(r, nil, nil, absent("_first"), absent("_last"), absent("b"), absent("aa"))
	}
	return s
}

func absent(text string) *fields.Value { return &fields.Value{Kind: token.String, Text: text} }

// modelValue is the value of a thing under a key: a number or a text, or nothing of either.
type modelValue struct {
	n    int64
	text []byte
	null bool
}

func (s *Sort) modelValue(t *thing, hit *modelHit) modelValue {
	switch s.Field {
	case "_score":
		return modelValue{n: fields.RealBits(float64(hit.score))}
	case "_id":
		return modelValue{text: []byte(t.id)}
	case "n":
		return s.modelNumber(t)
	}
	missing := s.Missing != nil && s.Missing.Text[0] != '_'
	switch {
	case len(t.words) == 0 && missing:
		return modelValue{text: []byte(s.Missing.Text)}
	case len(t.words) == 0:
		return modelValue{null: true}
	case s.Mode == "max" || s.Mode == "" && s.Descending:
		return modelValue{text: []byte(t.words[len(t.words)-1])}
	}
	return modelValue{text: []byte(t.words[0])}
}

func (s *Sort) modelNumber(t *thing) modelValue {
	if len(t.numbers) == 0 {
		first := s.Missing != nil && s.Missing.Text == "_first"
		switch {
		case s.Missing != nil && s.Missing.Text == "50":
			return modelValue{n: 50}
		case first != s.Descending:
			return modelValue{n: math.MinInt64}
		}
		return modelValue{n: math.MaxInt64}
	}
	sum := int64(0)
	for _, n := range t.numbers {
		sum += n
	}
	mean := float64(sum) / float64(len(t.numbers))
	switch mode := s.Mode; {
	case mode == "avg" || mode == "median": // there are two at most
		return modelValue{n: int64(math.Floor(mean + 0.5))}
	case mode == "sum":
		return modelValue{n: sum}
	case mode == "max" || mode == "" && s.Descending:
		return modelValue{n: slices.Max(t.numbers)}
	}
	return modelValue{n: slices.Min(t.numbers)}
}

// modelOrder orders two hits by keys; all of them different with ties.
func (w *world) modelOrder(keys []Sort, ties bool) func(a, b modelHit) int {
	things := map[string]*thing{}
	w.all(func(t *thing) { things[t.id] = t })
	place := func(a, b modelHit) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) }
	return func(a, b modelHit) int {
		for _, s := range keys {
			order := 0
			if s.Field == "_doc" {
				order = place(a, b)
			} else {
				x, y := s.modelValue(things[a.id], &a), s.modelValue(things[b.id], &b)
				if x.null || y.null {
					order = cmp.Compare(bit(x.null), bit(y.null))
					if s.Missing != nil && s.Missing.Text == "_first" {
						order = -order
					}
					if order != 0 {
						return order
					}
					continue
				}
				order = cmp.Or(cmp.Compare(x.n, y.n), bytes.Compare(x.text, y.text))
			}
			if s.Descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		if !ties {
			return 0
		}
		return place(a, b)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOrdersAreThoseOfTheModel sorts by random keys, and goes on behind random hits.
func TestOrdersAreThoseOfTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		sizes := rapid.SampledFrom([][]int{{5}, {70, 0, 3}, {300, 200}, {700}}).Draw(rt, "sizes")
		w := newWorld(rt, r, sizes, rapid.SampledFrom([]float64{0, 0.1, 0.9}).Draw(rt, "hides"))
		for range 4 {
			p := (&drawn{r, ""}).plan(1)
			var keys []Sort
			for range 1 + r.IntN(3) {
				keys = append(keys, randomSort(r))
			}
			want := w.search(p)
			slices.SortFunc(want, w.modelOrder(keys, true))
			request := Request{Size: 1 + r.IntN(20), TrackTotal: pick[int64](r, -1, 5, 10000), Sort: keys}
			got := w.run(rt, p, request)
			sameOrder(rt, p, keys, got.Hits, want, request.Size)
			if len(got.Hits) == 0 {
				continue
			}
			at := r.IntN(len(got.Hits))
			request.After = got.Hits[at].Sort
			after, behind := want[at], w.modelOrder(keys, false)
			want = slices.DeleteFunc(want, func(h modelHit) bool { return behind(h, after) <= 0 })
			sameOrder(rt, p, keys, w.run(rt, p, request).Hits, want, request.Size)
		}
	})
}

func sameOrder(t *rapid.T, p plan, keys []Sort, got []Hit, want []modelHit, size int) {
	var ids, wanted []string
	for _, h := range got {
		ids = append(ids, h.ID)
	}
	for _, h := range want[:min(size, len(want))] {
		wanted = append(wanted, h.id)
	}
	if !slices.Equal(ids, wanted) {
		t.Fatalf("%s by %s\ngot %v\nwant %v", describe(p), fmt.Sprintf("%+v", keys), ids, wanted)
	}
}
