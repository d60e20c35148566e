package xcontent_test

import (
	"bytes"
	"encoding/json"
	"testing"
)

// The rates are of JSON written; Compact, a pass over that JSON with the standard
// library, is the measure: SMILE should be twice as fast.
func BenchmarkToJSON(b *testing.B) {
	text := read(b, "records.json")
	for name, file := range map[string]string{"SMILE": "records.1.smile", "SMILE/values": "records.3.smile", "CBOR": "records.cbor"} {
		data := read(b, file)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				var err error
				if dst, err = toJSON(dst[:0], data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Compact", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		var dst bytes.Buffer
		for b.Loop() {
			dst.Reset()
			if err := json.Compact(&dst, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
