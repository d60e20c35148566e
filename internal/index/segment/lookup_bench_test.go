//go:build unix

package segment_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// BenchmarkLookupOfMany is terms that are looked up in each of 64 segments of 3,000 docs: what a search of so
// many shards costs before it reads anything.
func BenchmarkLookupOfMany(b *testing.B) {
	var fields []*segment.Field
	for i := range 64 {
		fields = append(fields, corpusSegment(b, 3_000, i).Field("body"))
	}
	words := newCorpus().words[:200]
	i := 0
	for b.Loop() {
		for _, f := range fields {
			f.Lookup(words[i%len(words)])
		}
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(fields)), "ns/segment")
}

// BenchmarkLookupOfSorted is one of so many terms of the same dictionaries, looked up together: one by one when it is
// one of more than termsPerLookup, and in one pass when it is one of fewer.
func BenchmarkLookupOfSorted(b *testing.B) {
	var fields []*segment.Field
	for i := range 64 {
		fields = append(fields, corpusSegment(b, 3_000, i).Field("body"))
	}
	for _, share := range []int{1, 5, 7, 64} {
		var some [][][]byte // of each field
		n := 0
		for _, f := range fields {
			var terms [][]byte
			for t := f.From(nil); t.Valid(); t.Next() {
				if n++; n%share == 0 {
					terms = append(terms, bytes.Clone(t.Term()))
				}
			}
			some = append(some, terms)
		}
		b.Run(fmt.Sprintf("one of %d", share), func(b *testing.B) {
			for b.Loop() {
				for i, f := range fields {
					f.LookupSorted(some[i], func(segment.Entry) {})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n/share), "ns/term")
		})
	}
}
