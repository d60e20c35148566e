package store_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// wide makes an index "wide" with so many fields.
func wide(t testing.TB, s *store.Store, fields int) {
	t.Helper()
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"settings":{"index.mapping.total_fields.limit":1000000},"mappings":{"properties":{"o":{"properties":{"x":{"type":"long"}}}`)
	for i := range fields / 2 { // a multi-field each
		fmt.Fprintf(&body, `,"f%d":{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}`, i)
	}
	body.WriteString(`}}}`)
	if _, err := s.CreateIndex(t.Context(), "wide", body.Bytes()); err != nil {
		t.Fatal(err)
	}
}

// grows are the ways in which the n-th field is added.
var grows = map[string]func(t testing.TB, s *store.Store, n int){
	"document": func(t testing.TB, s *store.Store, n int) {
		for _, w := range s.Write(t.Context(), []document.Write{{Target: "wide", ID: "1", Operation: document.Index,
			Source: fmt.Appendf(nil, `{"new%d":%d}`, n, n), Condition: document.Always}}, document.Eventually) {
			if w.Err != nil {
				t.Fatal(w.Err)
			}
		}
	},
	"mapping": func(t testing.TB, s *store.Store, n int) {
		err := s.PutMapping(t.Context(), catalog.Expression{Names: []string{"wide"}}, fmt.Appendf(nil, `{"properties":{"o":{"properties":{"put%d":{"type":"keyword"}}}}}`, n), false)
		if err != nil {
			t.Fatal(err)
		}
	},
}

// BenchmarkOneMoreField is what one more field costs, beside so many.
//
//	go test ./internal/store -run XXX -bench OneMoreField -benchtime 50x
func BenchmarkOneMoreField(b *testing.B) {
	for _, fields := range []int{1000, 20_000} {
		for name, grow := range grows {
			b.Run(fmt.Sprintf("%d/%s", fields, name), func(b *testing.B) {
				s := openMany(b, 0)
				wide(b, s, fields)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					grow(b, s, i)
				}
			})
		}
	}
}

// TestOneMoreFieldCostsAsMuchAsThat: what is done for a new field does not grow with the number of those that are
// there already, but for what is copied as a whole.
func TestOneMoreFieldCostsAsMuchAsThat(t *testing.T) {
	for name, grow := range grows {
		spent := map[int]float64{}
		for _, fields := range []int{1000, 8000} {
			s := openMany(t, 0)
			wide(t, s, fields)
			n := 0
			spent[fields] = math.Inf(1)
			for range 4 { // the least, since work behind the scenes is counted too
				spent[fields] = min(spent[fields], testing.AllocsPerRun(10, func() { grow(t, s, n); n++ }))
			}
		}
		if spent[8000] > 2*spent[1000] {
			t.Errorf("%s: %.0f allocations beside 1000 fields, %.0f beside 8000", name, spent[1000], spent[8000])
		}
	}
}

// TestAMappingThatHasGrownIsWhatIsStored: what requests see after each change is what the next start reads.
func TestAMappingThatHasGrownIsWhatIsStored(t *testing.T) {
	c, e := memory.New(), shardmemory.New(shardmemory.Options{})
	s := open(t, c, e)
	wide(t, s, 200)
	for i := range 20 {
		for _, name := range []string{"document", "mapping"} {
			grows[name](t, s, i)
		}
	}
	for _, body := range []string{`{"properties":{"f3":{"type":"text","fielddata":true}}}`, `{"dynamic":"strict"}`, `{"properties":{"a&<b>":{"type":"geo_point"}}}`, `{"properties":{"a&<b>":{"type":"geo_point"}}}`} {
		if err := s.PutMapping(t.Context(), catalog.Expression{Names: []string{"wide"}}, []byte(body), false); err != nil {
			t.Fatal(err)
		}
	}
	shown := func(s *store.Store) string {
		told, err := s.Status(t.Context(), catalog.Expression{Names: []string{"wide"}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %d %v", told[0].Mapping, told[0].MappingVersion, told[0].Settings)
	}
	before := shown(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := shown(open(t, c, e)); after != before {
		t.Errorf("%s\nis read again as\n%s", before, after)
	}
}
