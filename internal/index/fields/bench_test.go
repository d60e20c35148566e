package fields_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

const benchMapping = `{"properties":{"@timestamp":{"type":"date"},"level":{"type":"keyword"},"service":{"type":"keyword"},"host":{"type":"keyword"},
	"status":{"type":"integer"},"duration":{"type":"double"},"bytes":{"type":"long"},"ok":{"type":"boolean"},
	"user":{"properties":{"id":{"type":"long"},"name":{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}}},
	"tags":{"type":"keyword"},"path":{"type":"keyword"},"message":{"type":"text"}}}`

// benchSources are documents of 1 KB with 13 fields, and words as in texts: few are
// frequent, most are rare.
func benchSources(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 20000)
	for i := range words {
		var b strings.Builder
		for range 2 + r.IntN(8) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		words[i] = b.String()
	}
	zipf := rand.NewZipf(r, 1.1, 3, uint64(len(words)-1))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	sources := make([][]byte, n)
	for i := range sources {
		var text strings.Builder
		for text.Len() < 640 {
			text.WriteString(words[zipf.Uint64()])
			text.WriteByte(' ')
		}
		sources[i] = fmt.Appendf(nil, `{"@timestamp":"2024-05-%02dT07:08:%02d.%03dZ","level":"%s","service":"%s","host":"web-%d.example","status":%d,`+
			`"duration":%.2f,"bytes":%d,"ok":%t,"user":{"id":%d,"name":"%s %s"},"tags":["%s","%s"],"path":"/v1/orders/%d/items","message":"%s"}`,
			1+r.IntN(30), r.IntN(60), r.IntN(1000), pick("info", "warn", "error", "debug"), pick("checkout", "cart", "search", "user"), r.IntN(100),
			200+100*r.IntN(4), r.Float64()*1000, r.IntN(1<<20), r.IntN(2) == 0, r.IntN(1<<30), words[zipf.Uint64()], words[zipf.Uint64()],
			pick("eu", "us", "ap"), pick("canary", "blue", "green"), r.IntN(1<<20), text.String())
	}
	return sources
}

// BenchmarkWriter takes documents apart, analyzes and writes them; then builds.
func BenchmarkWriter(b *testing.B) {
	const batch = 10000
	sources := benchSources(batch)
	schema := schemaOf(b, benchMapping)
	b.SetBytes(int64(len(sources[0])))
	b.ReportAllocs()
	build := segment.NewBuilder()
	w := fields.NewWriter(build)
	for i := range b.N {
		n := i % batch
		if err := w.Add(schema, segment.Identity{Key: routing.Key(uint64(i) * 0x9e3779b97f4a7c15), ID: fmt.Sprint("id-", i), SeqNo: int64(i)}, "", sources[n]); err != nil {
			b.Fatal(err)
		}
		if n == batch-1 {
			if _, err := build.Build(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestWritingAllocatesNothingPerValue is invariant 4: what is left is the reader of the
// source, and memory of the builder that grows now and then.
func TestWritingAllocatesNothingPerValue(t *testing.T) {
	sources := benchSources(200)
	schema := schemaOf(t, benchMapping)
	build := segment.NewBuilder()
	w := fields.NewWriter(build)
	add := func() {
		for i, source := range sources {
			if err := w.Add(schema, segment.Identity{ID: "same", SeqNo: int64(i)}, "", source); err != nil {
				t.Fatal(err)
			}
		}
	}
	add() // its terms and fields
	if each := testing.AllocsPerRun(5, add) / float64(len(sources)); each > 5 {
		t.Errorf("%.1f allocations a document of 15 values", each)
	}
}
