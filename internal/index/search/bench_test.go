package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
)

// library is an index of 200,000 documents of 1 KB with 13 fields, in one segment: whole,
// and as a view that owns one eighth shows it.
var library = sync.OnceValues(func() (whole, eighth search.Index) {
	var index struct{ Mappings json.RawMessage }
	must(json.Unmarshal([]byte(corpus.Index), &index))
	m, err := mapping.Parse(index.Mappings, mapping.DefaultLimits)
	must(err)
	a, err := analysis.New(nil)
	must(err)
	whole = search.Index{Number: 1, Name: "library", Schema: fields.New(m, a)}
	s, err := segment.Open(libraryFile(whole.Schema))
	must(err)
	eighth = whole
	whole.Sources = []search.Source{{Views: []segment.View{{Segment: s}}}}
	fourth := routing.Equal(8)[3]
	eighth.Sources = []search.Source{{Within: fourth, Views: []segment.View{{Segment: s, Hidden: s.OutOf(fourth)}}}}
	return whole, eighth
})

// libraryFile builds the segment, or reads it from the file that RESHELVE_LIBRARY names.
func libraryFile(schema *fields.Schema) []byte {
	path := os.Getenv("RESHELVE_LIBRARY")
	if data, err := os.ReadFile(path); err == nil {
		return data
	}
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	for i := range 200_000 {
		id := fmt.Sprint(i)
		must(w.Add(schema, segment.Identity{Key: routing.KeyOf(id, "", 1), ID: id, SeqNo: int64(i)}, "", corpus.Source(i)))
	}
	data, err := b.Build()
	must(err)
	if path != "" {
		must(os.WriteFile(path, data, 0o644))
	}
	return data
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// asked are kinds of searches that differ in words and numbers.
var asked = []struct {
	name string
	body func(d *dice) string
}{
	{"match", func(d *dice) string { return `{"query":` + d.match() + `}` }},
	{"bool", func(d *dice) string {
		return `{"query":{"bool":{"must":[` + d.match() + `],"filter":[{"term":{"branch":"` + d.branch() + `"}},` + d.pages(500) + `]}}}`
	}},
	{"term", func(d *dice) string { return `{"query":{"term":{"subject":"` + d.subject() + `"}}}` }},
	{"term, one of ten", func(d *dice) string { return `{"query":{"term":{"branch":"` + d.branch() + `"}}}` }},
	{"term of the text", func(d *dice) string { return `{"query":{"term":{"body":"` + d.word(20, 300) + `"}}}` }},
	{"match, all words", func(d *dice) string {
		return fmt.Sprintf(`{"query":{"match":{"body":{"query":"%s %s","operator":"and"}}}}`, d.word(20, 300), d.word(20, 300))
	}},
	{"match, four words", func(d *dice) string {
		return fmt.Sprintf(`{"query":{"match":{"body":"%s %s %s %s"}}}`, d.word(0, 100), d.word(100, 300), d.word(300, 1000), d.word(1000, 5000))
	}},
	{"multi_match", func(d *dice) string {
		return fmt.Sprintf(`{"query":{"multi_match":{"query":"%s %s","fields":["title^2","body"]}}}`, d.word(20, 300), d.word(300, 10_000))
	}},
	{"phrase", func(d *dice) string {
		return fmt.Sprintf(`{"query":{"match_phrase":{"body":"%s %s"}}}`, d.word(0, 100), d.word(0, 100))
	}},
	{"sort", func(d *dice) string { return `{"query":` + d.pages(300) + `,"sort":[{"price":"` + d.order() + `"}]}` }},
	{"sort by a keyword", func(d *dice) string { return `{"query":` + d.pages(300) + `,"sort":[{"author":"` + d.order() + `"}]}` }},
	{"range", func(d *dice) string { return `{"query":` + d.pages(300) + `}` }},
	{"count of a range", func(d *dice) string { return `{"size":0,"track_total_hits":true,"query":` + d.pages(500) + `}` }},
	{"filters", func(d *dice) string {
		return `{"query":{"bool":{"filter":[{"term":{"branch":"` + d.branch() + `"}},{"term":{"available":true}},` + d.pages(500) + `]}}}`
	}},
	{"all", func(*dice) string { return `{}` }},
	{"prefix", func(d *dice) string { return `{"query":{"prefix":{"body":"` + d.word(300, 1000)[:3] + `"}}}` }},
}

// dice draws what differs between searches.
type dice struct{ *rand.Rand }

func (d *dice) word(from, to int) string { return corpus.Word(from + d.IntN(to-from)) }

// match is a frequent word and one of the middle.
func (d *dice) match() string {
	return fmt.Sprintf(`{"match":{"body":"%s %s"}}`, d.word(20, 300), d.word(300, 10_000))
}

func (d *dice) branch() string  { return fmt.Sprintf("branch-%d", d.IntN(corpus.Branches)) }
func (d *dice) subject() string { return fmt.Sprintf("subject-%d", d.IntN(corpus.Subjects)) }
func (d *dice) order() string   { return []string{"asc", "desc"}[d.IntN(2)] }

// pages is a range with so many of the 980 values that there are.
func (d *dice) pages(many int) string {
	from := 20 + d.IntN(980-many)
	return fmt.Sprintf(`{"range":{"pages":{"gte":%d,"lt":%d}}}`, from, from+many)
}

// BenchmarkSearch runs 200 searches of each kind in turns.
func BenchmarkSearch(b *testing.B) {
	whole, eighth := library()
	for _, place := range []struct {
		name  string
		index search.Index
	}{{"whole", whole}, {"eighth", eighth}} {
		for _, k := range asked {
			d := &dice{rand.New(rand.NewPCG(3, uint64(len(k.name))))}
			var requests []search.Request
			for range 200 {
				s, err := query.ReadSearch([]byte(k.body(d)))
				if err != nil {
					b.Fatal(err)
				}
				r := search.NewRequest()
				if s.Query != nil {
					r.Query = s.Query
				}
				r.Sort, r.Size, r.TrackTotal = s.Sort, s.Size, s.TrackTotal
				requests = append(requests, r)
			}
			b.Run(place.name+"/"+k.name, func(b *testing.B) {
				b.ReportAllocs()
				before, n := processor(), 0
				for i := 0; b.Loop(); i++ {
					if _, err := search.Run(context.Background(), []search.Index{place.index}, requests[i%len(requests)]); err != nil {
						b.Fatal(err)
					}
					n++
				}
				b.ReportMetric(float64(processor()-before)/float64(n), "cpu-ns/op")
			})
		}
	}
}

// processor is the time for which the process has had a processor: on a busy machine it
// tells more than the clock.
func processor() int64 {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkPages reads pages of 1000 of all documents in the order of their keys, one behind
// the other, from the start again at the end.
func BenchmarkPages(b *testing.B) {
	whole, eighth := library()
	for name, index := range map[string]search.Index{"whole": whole, "eighth": eighth} {
		b.Run(name, func(b *testing.B) {
			r := search.NewRequest()
			r.Size, r.TrackTotal, r.Sort = 1000, 0, []search.Sort{{Field: "_doc"}}
			before, n := processor(), 0
			for b.Loop() {
				found, err := search.Run(context.Background(), []search.Index{index}, r)
				if err != nil {
					b.Fatal(err)
				}
				if r.After = nil; len(found.Hits) == r.Size {
					r.After = found.Hits[len(found.Hits)-1].Sort
				}
				n++
			}
			b.ReportMetric(float64(processor()-before)/float64(n), "cpu-ns/op")
		})
	}
}
