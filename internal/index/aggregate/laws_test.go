package aggregate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/index/search"
	"pgregory.net/rapid"
)

// paper is a document of the laws: values are few and whole, so that sums are exact in
// any order.
type paper struct {
	K []string `json:"k,omitempty"`
	L []int64  `json:"l,omitempty"`
	D []int64  `json:"d,omitempty"` // milliseconds
	N []note   `json:"n,omitempty"`
}

// note is a nested object of a paper.
type note struct {
	K string `json:"k"`
	A int64  `json:"a"`
}

const paperMapping = `{"properties":{"k":{"type":"keyword"},"l":{"type":"long"},"d":{"type":"date","format":"epoch_millis"},
	"n":{"type":"nested","properties":{"k":{"type":"keyword"},"a":{"type":"long"}}}}}`

var words = []string{"a", "b", "c", "d", "Ä", "😀"}

func drawPapers(t *rapid.T) []paper {
	one := rapid.Custom(func(t *rapid.T) paper {
		return paper{
			K: rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, "k"),
			L: rapid.SliceOfN(rapid.Int64Range(-5, 5), 0, 2).Draw(t, "l"),
			D: rapid.SliceOfN(rapid.Int64Range(0, 40*86_400_000), 0, 1).Draw(t, "d"),
			N: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) note {
				return note{rapid.SampledFrom(words[:3]).Draw(t, "nk"), rapid.Int64Range(0, 3).Draw(t, "na")}
			}), 0, 2).Draw(t, "n"),
		}
	})
	return rapid.SliceOfN(one, 1, 25).Draw(t, "papers")
}

// naive is an aggregation as it is asked for, and the simplest way to compute it.
type naive struct {
	asked string               // the object of its type
	count func(of []paper) any // its result, as JSON is read
}

type object = map[string]any

// tell is a bucket of papers, with what is below.
func tell(g group, below *naive) object {
	b := object{"doc_count": float64(len(g.of))}
	if g.key != nil {
		b["key"] = g.key
	}
	if below != nil {
		b["y"] = below.count(g.of)
	}
	return b
}

type group struct {
	key any
	of  []paper
}

func below(n *naive) string {
	if n == nil {
		return ""
	}
	return `,"aggs":{"y":` + n.asked + `}`
}

func unique[T cmp.Ordered](s []T) []T {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

// drawNaive draws an aggregation of the depth.
func drawNaive(t *rapid.T, depth int) *naive {
	if depth == 0 {
		return drawMetric(t)
	}
	var sub *naive
	if rapid.Bool().Draw(t, "below") {
		sub = drawNaive(t, depth-1)
	}
	switch rapid.SampledFrom([]string{"terms", "numbers", "histogram", "days", "filter", "missing", "range"}).Draw(t, "kind") {
	case "terms":
		return naiveTerms("k", sub, rapid.IntRange(1, 8).Draw(t, "size"), rapid.Bool().Draw(t, "by key"),
			func(p paper) (keys []any) {
				for _, k := range unique(p.K) {
					keys = append(keys, k)
				}
				return keys
			}, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
	case "numbers":
		return naiveTerms("l", sub, rapid.IntRange(1, 12).Draw(t, "size"), rapid.Bool().Draw(t, "by key"),
			func(p paper) (keys []any) {
				for _, l := range unique(p.L) {
					keys = append(keys, float64(l))
				}
				return keys
			}, func(a, b any) int { return cmp.Compare(a.(float64), b.(float64)) })
	case "histogram":
		return naiveHistogram(sub, rapid.Int64Range(1, 4).Draw(t, "interval"), rapid.Bool().Draw(t, "gaps"))
	case "days":
		return naiveDays(sub, rapid.Int64Range(1, 9).Draw(t, "days"))
	case "missing":
		return naiveSingle(`"missing":{"field":"l"}`, sub, func(p paper) bool { return len(p.L) == 0 })
	case "range":
		from := rapid.Int64Range(-5, 5).Draw(t, "from")
		return naiveRange(sub, float64(from))
	}
	word := rapid.SampledFrom(words).Draw(t, "word")
	return naiveSingle(fmt.Sprintf(`"filter":{"term":{"k":%q}}`, word), sub, func(p paper) bool { return slices.Contains(p.K, word) })
}

func naiveTerms(field string, sub *naive, size int, byKey bool, keys func(p paper) []any, compare func(a, b any) int) *naive {
	order := `{"_count":"desc"}`
	if byKey {
		order = `{"_key":"desc"}`
	}
	return &naive{
		asked: fmt.Sprintf(`{"terms":{"field":%q,"size":%d,"order":%s}%s}`, field, size, order, below(sub)),
		count: func(of []paper) any {
			var groups []group
			for _, p := range of {
				for _, key := range keys(p) {
					i := slices.IndexFunc(groups, func(g group) bool { return g.key == key })
					if i < 0 {
						i = len(groups)
						groups = append(groups, group{key: key})
					}
					groups[i].of = append(groups[i].of, p)
				}
			}
			slices.SortFunc(groups, func(a, b group) int {
				if byKey {
					return compare(b.key, a.key)
				}
				return cmp.Or(cmp.Compare(len(b.of), len(a.of)), compare(a.key, b.key))
			})
			buckets, other := []any{}, 0
			for i, g := range groups {
				if i < size {
					buckets = append(buckets, tell(g, sub))
				} else {
					other += len(g.of)
				}
			}
			return object{"doc_count_error_upper_bound": 0.0, "sum_other_doc_count": float64(other), "buckets": buckets}
		},
	}
}

func naiveHistogram(sub *naive, interval int64, gaps bool) *naive {
	least := 1
	if gaps {
		least = 0
	}
	return &naive{
		asked: fmt.Sprintf(`{"histogram":{"field":"l","interval":%d,"min_doc_count":%d}%s}`, interval, least, below(sub)),
		count: func(of []paper) any {
			return object{"buckets": intervals(of, sub, gaps, float64(interval), func(p paper) []int64 { return p.L }, false)}
		},
	}
}

func naiveDays(sub *naive, days int64) *naive {
	return &naive{
		asked: fmt.Sprintf(`{"date_histogram":{"field":"d","fixed_interval":"%dd","format":"epoch_millis"}%s}`, days, below(sub)),
		count: func(of []paper) any {
			return object{"buckets": intervals(of, sub, true, float64(days*86_400_000), func(p paper) []int64 { return p.D }, true)}
		},
	}
}

// intervals goes from the first interval in which a number is to the last.
func intervals(of []paper, sub *naive, gaps bool, interval float64, numbers func(p paper) []int64, dated bool) []any {
	in := func(p paper, low float64) bool {
		return slices.ContainsFunc(numbers(p), func(n int64) bool { return float64(n) >= low && float64(n) < low+interval })
	}
	buckets := []any{}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range of {
		for _, n := range numbers(p) {
			low, high = min(low, math.Floor(float64(n)/interval)*interval), max(high, float64(n))
		}
	}
	for ; low <= high; low += interval {
		g := group{key: low}
		for _, p := range of {
			if in(p, low) {
				g.of = append(g.of, p)
			}
		}
		if len(g.of) > 0 || gaps {
			b := tell(g, sub)
			if dated {
				b["key_as_string"] = fmt.Sprintf("%.0f", low)
			}
			buckets = append(buckets, b)
		}
	}
	return buckets
}

func naiveSingle(asked string, sub *naive, keep func(p paper) bool) *naive {
	return &naive{
		asked: "{" + asked + below(sub) + "}",
		count: func(of []paper) any {
			g := group{}
			for _, p := range of {
				if keep(p) {
					g.of = append(g.of, p)
				}
			}
			return tell(g, sub)
		},
	}
}

func naiveRange(sub *naive, at float64) *naive {
	return &naive{
		asked: fmt.Sprintf(`{"range":{"field":"l","ranges":[{"key":"low","to":%v},{"key":"high","from":%v}]}%s}`, at, at, below(sub)),
		count: func(of []paper) any {
			low, high := group{key: "low"}, group{key: "high"}
			for _, p := range of {
				if slices.ContainsFunc(p.L, func(n int64) bool { return float64(n) < at }) {
					low.of = append(low.of, p)
				}
				if slices.ContainsFunc(p.L, func(n int64) bool { return float64(n) >= at }) {
					high.of = append(high.of, p)
				}
			}
			first, second := tell(low, sub), tell(high, sub)
			first["to"], second["from"] = at, at
			return object{"buckets": []any{first, second}}
		},
	}
}

// drawMetric draws one of numbers, or of nested objects.
func drawMetric(t *rapid.T) *naive {
	switch kind := rapid.SampledFrom([]string{"sum", "max", "value_count", "cardinality", "nested"}).Draw(t, "metric"); kind {
	case "nested":
		return &naive{
			asked: `{"nested":{"path":"n"},"aggs":{"y":{"terms":{"field":"n.k","order":{"_key":"asc"}},"aggs":{"y":{"sum":{"field":"n.a"}},"z":{"reverse_nested":{}}}}}}`,
			count: countNotes,
		}
	default:
		return &naive{asked: fmt.Sprintf(`{%q:{"field":"l"}}`, kind), count: func(of []paper) any { return object{"value": metricOf(kind, of)} }}
	}
}

func metricOf(kind string, of []paper) any {
	var all []int64
	for _, p := range of {
		all = append(all, p.L...)
	}
	switch {
	case kind == "value_count":
		return float64(len(all))
	case kind == "cardinality":
		return float64(len(unique(all)))
	case kind == "max" && len(all) == 0:
		return nil
	case kind == "max":
		return float64(slices.Max(all))
	}
	sum := 0.0
	for _, n := range all {
		sum += float64(n)
	}
	return sum
}

func countNotes(of []paper) any {
	total, buckets := 0, []any{}
	for _, word := range words[:3] {
		n, sum, papers := 0, 0.0, 0
		for _, p := range of {
			before := n
			for _, note := range p.N {
				if note.K == word {
					n++
					sum += float64(note.A)
				}
			}
			if n > before {
				papers++
			}
		}
		if total += n; n > 0 {
			buckets = append(buckets, object{"key": word, "doc_count": float64(n), "y": object{"value": sum}, "z": object{"doc_count": float64(papers)}})
		}
	}
	return object{"doc_count": float64(total), "y": object{"doc_count_error_upper_bound": 0.0, "sum_other_doc_count": 0.0, "buckets": buckets}}
}

// TestTheSameAsTheSimplestWay compares random aggregations over random papers with what
// is computed without segments, in whatever segments and with whatever deletes they are.
func TestTheSameAsTheSimplestWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		papers := drawPapers(t)
		d := &described{name: "papers", mappings: paperMapping}
		for _, p := range papers {
			source, _ := json.Marshal(p)
			d.docs = append(d.docs, string(source))
		}
		asked := drawNaive(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		want, _ := json.Marshal(object{"x": asked.count(papers)})
		for _, l := range layouts {
			out, err := answerUntyped([]search.Index{d.index(t, 0, l)}, `{"aggs":{"x":`+asked.asked+`}}`)
			if err != nil {
				t.Fatalf("%s: %v", asked.asked, err)
			}
			var got any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			if again, _ := json.Marshal(got); string(again) != string(want) {
				t.Fatalf("%s, %s\n got %s\nwant %s", l.name, asked.asked, again, want)
			}
		}
	})
}
