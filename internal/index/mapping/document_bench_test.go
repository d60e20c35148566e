package mapping

import (
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// benchSource is a document of 1 KB with 13 fields.
func benchSource() (source []byte, mappings string) {
	source = fmt.Appendf(nil, `{"@timestamp":"2024-05-06T07:08:09.123Z","level":"info","service":"checkout","host":"web-17.example","status":200,`+
		`"duration":12.75,"bytes":48213,"ok":true,"user":{"id":91827364,"name":"Ada Lovelace"},"tags":["eu","canary","blue"],`+
		`"path":"/v1/orders/918273/items","message":"%s"}`, strings.Repeat("the quick brown fox jumps over the lazy dog ", 15))
	mappings = `{"properties":{"@timestamp":{"type":"date"},"level":{"type":"keyword"},"service":{"type":"keyword"},"host":{"type":"keyword"},
		"status":{"type":"integer"},"duration":{"type":"double"},"bytes":{"type":"long"},"ok":{"type":"boolean"},
		"user":{"properties":{"id":{"type":"long"},"name":{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}}},
		"tags":{"type":"keyword"},"path":{"type":"keyword"},"message":{"type":"text"}}}`
	return source, mappings
}

// counting counts what it receives.
type counting struct{ values, bytes int }

func (c *counting) Value(_ *Field, v Value) { c.values++; c.bytes += len(v.Bytes) }
func (c *counting) Begin(*Field)            {}
func (c *counting) End(*Field)              {}

func BenchmarkDocument(b *testing.B) {
	source, mappings := benchSource()
	m, err := Parse([]byte(mappings), DefaultLimits)
	if err != nil {
		b.Fatal(err)
	}
	for _, with := range []struct {
		name string
		sink Sink
	}{{"checked", nil}, {"handed out", &counting{}}} {
		b.Run(with.name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if additions, err := m.Document(source, "1", DefaultLimits, with.sink); err != nil || additions != nil {
					b.Fatal(additions, err)
				}
			}
		})
	}
}

// BenchmarkPeers reads the same source with libraries that know no mapping.
func BenchmarkPeers(b *testing.B) {
	source, _ := benchSource()
	b.Run("gjson valid and each", func(b *testing.B) {
		b.SetBytes(int64(len(source)))
		b.ReportAllocs()
		for b.Loop() {
			if !gjson.ValidBytes(source) {
				b.Fatal()
			}
			gjson.ParseBytes(source).ForEach(func(key, value gjson.Result) bool { return value.Type >= 0 })
		}
	})
	b.Run("jsontext tokens", func(b *testing.B) {
		b.SetBytes(int64(len(source)))
		b.ReportAllocs()
		for b.Loop() {
			d := json.NewDecoder(strings.NewReader(string(source)))
			for {
				if _, err := d.ReadToken(); err != nil {
					break
				}
			}
		}
	})
}
