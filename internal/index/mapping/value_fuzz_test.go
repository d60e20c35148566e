package mapping

import (
	"bytes"
	"strconv"
	"testing"

	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// everyType is one field of each type that reads values in its own way.
const everyType = `{"properties":{"byte":{"type":"byte"},"short":{"type":"short"},"integer":{"type":"integer"},"long":{"type":"long"},
"unsigned":{"type":"unsigned_long"},"double":{"type":"double"},"float":{"type":"float"},"half":{"type":"half_float"},
"scaled":{"type":"scaled_float","scaling_factor":100},"boolean":{"type":"boolean"},"ip":{"type":"ip"},
"binary":{"type":"binary","doc_values":true},"date":{"type":"date"},"nanos":{"type":"date_nanos"},"geo":{"type":"geo_point"},
"lenient":{"type":"geo_point","ignore_malformed":true,"fields":{"hash":{"type":"keyword"}}},"integers":{"type":"integer_range"},
"floats":{"type":"float_range"},"dates":{"type":"date_range"},"addresses":{"type":"ip_range"},"keyword":{"type":"keyword"}}}`

// FuzzValue gives one value to a field of every type: none may panic, and a long
// must be what Go reads of it.
func FuzzValue(f *testing.F) {
	m, err := Parse([]byte(everyType), DefaultLimits)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{`1`, `-1.5e3`, `"1.2.3.4/8"`, `{"gte":"2020","lt":5}`, `[[1,2,3],"u33d"]`, `"POINT (1 2)"`, `"YQ=="`, `"::1%2"`,
		`{"lat":"1","lon":2}`, `{"type":"Point","coordinates":[1,2]}`, `"2020-02-29T12:34:56.789Z"`, `"0x1p3"`, `"9223372036854775808"`, `1e999999999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for field := range m.All() {
			if len(value) > 1<<16 || field.IsObject() {
				continue
			}
			var c collected
			source := []byte(`{"` + field.Name() + `":` + string(value) + `}`)
			if _, err := m.Document(source, "1", DefaultLimits, &c); err != nil || len(c.values) != 1 || field.Type() != "long" {
				continue
			}
			r := json.New(value)
			if kind, _ := r.Next(); kind != json.Integer {
				continue
			}
			want, err := strconv.ParseInt(string(bytes.TrimSpace(r.Text())), 10, 64)
			if err == nil && c.values[0].Low != want {
				t.Errorf("%s is %d", value, c.values[0].Low)
			}
		}
	})
}

func BenchmarkValue(b *testing.B) {
	m, err := Parse([]byte(everyType), DefaultLimits)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, value string }{
		{"long", `1234567890`}, {"double", `3.25`}, {"half", `3.25`}, {"ip", `"192.168.10.20"`}, {"date", `"2020-02-29T12:34:56.789Z"`},
		{"date", `1582979696789`}, {"nanos", `"2020-02-29T12:34:56.789123456Z"`}, {"geo", `{"lat":52.5,"lon":13.4}`}, {"geo", `"52.5,13.4"`},
		{"integers", `{"gte":10,"lt":20}`}, {"addresses", `"10.0.0.0/8"`}, {"binary", `"YWJjZGVmZ2g="`}, {"unsigned", `18446744073709551615`},
		{"keyword", `"abcdefgh"`},
	} {
		// many values: what a document costs by itself is measured elsewhere
		source := []byte(`{"` + c.name + `":[` + string(bytes.Repeat([]byte(c.value+","), 999)) + c.value + `]}`)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Document(source, "1", DefaultLimits, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/value")
		})
	}
}
