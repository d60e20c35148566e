package aggregate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
)

const benchmarkDocs = 200_000

// benchmarkIndex has documents in four segments.
func benchmarkIndex(b *testing.B) []search.Index {
	r := rand.New(rand.NewPCG(1, 2))
	d := &described{name: "bench", mappings: `{"properties":{"k":{"type":"keyword"},"many":{"type":"keyword"},"tags":{"type":"keyword"},
		"n":{"type":"long"},"d":{"type":"double"},"at":{"type":"date"}}}`}
	for range benchmarkDocs {
		d.docs = append(d.docs, fmt.Sprintf(`{"k":"key%d","many":"m%d","tags":["t%d","t%d"],"n":%d,"d":%v,"at":%d}`,
			r.IntN(1000), r.IntN(100_000), r.IntN(50), r.IntN(50), r.IntN(10_000), r.Float64()*100, 1_600_000_000_000+r.Int64N(365*86_400_000)))
	}
	return []search.Index{d.index(b, 0, layout{segment: benchmarkDocs / 4})}
}

// cpuTime is how long the process has computed: what a machine with other work compares
// by.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkAggregations are over 200,000 documents, all found, in four segments.
func BenchmarkAggregations(b *testing.B) {
	indices := benchmarkIndex(b)
	for _, bench := range []struct{ name, aggs string }{
		{"nothing", `{}`},
		{"terms of 1000", `{"x":{"terms":{"field":"k"}}}`},
		{"terms of 100000", `{"x":{"terms":{"field":"many"}}}`},
		{"terms of two in 50", `{"x":{"terms":{"field":"tags"}}}`},
		{"terms of numbers", `{"x":{"terms":{"field":"n"}}}`},
		{"terms with avg", `{"x":{"terms":{"field":"k"},"aggs":{"y":{"avg":{"field":"d"}}}}}`},
		{"terms in terms", `{"x":{"terms":{"field":"tags"},"aggs":{"y":{"terms":{"field":"k"}}}}}`},
		{"days", `{"x":{"date_histogram":{"field":"at","calendar_interval":"day"}}}`},
		{"months in Berlin", `{"x":{"date_histogram":{"field":"at","calendar_interval":"month","time_zone":"Europe/Berlin"}}}`},
		{"hours in Berlin", `{"x":{"date_histogram":{"field":"at","fixed_interval":"1h","time_zone":"Europe/Berlin"}}}`},
		{"histogram", `{"x":{"histogram":{"field":"d","interval":5}}}`},
		{"stats", `{"x":{"stats":{"field":"d"}}}`},
		{"percentiles", `{"x":{"percentiles":{"field":"d"}}}`},
		{"cardinality of 1000", `{"x":{"cardinality":{"field":"k"}}}`},
		{"cardinality of 100000", `{"x":{"cardinality":{"field":"many"}}}`},
		{"range", `{"x":{"range":{"field":"d","ranges":[{"to":20},{"from":20,"to":50},{"from":50}]}}}`},
		{"composite", `{"x":{"composite":{"sources":[{"a":{"terms":{"field":"k"}}},{"b":{"histogram":{"field":"d","interval":10}}}]}}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s, err := query.ReadSearch([]byte(`{"aggs":` + bench.aggs + `}`))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				c, err := aggregate.New(s.Aggs, aggregate.Options{})
				if err != nil {
					b.Fatal(err)
				}
				r := search.NewRequest()
				r.Size, r.TrackTotal, r.Collectors = 0, -1, []search.Collector{c}
				if _, err := search.Run(context.Background(), indices, r); err != nil {
					b.Fatal(err)
				}
				if _, err := c.AppendJSON(nil, false, appendFound); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/benchmarkDocs, "cpu-ns/doc")
		})
	}
}
