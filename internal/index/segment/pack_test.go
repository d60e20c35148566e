package segment

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestAPackedBlockIsUnpackedAsItWas(t *testing.T) {
	for bits := range 33 {
		rapid.Check(t, func(t *rapid.T) {
			var values, got [listBlock]uint32
			greatest := uint32(0)
			for i := range values {
				values[i] = uint32(rapid.Uint64Range(0, 1<<bits-1).Draw(t, "value"))
				greatest |= values[i]
			}
			width := packWidth(greatest)
			packed := pack(nil, &values, width)
			if len(packed) != packedSize(width) {
				t.Fatalf("%d bytes, want %d", len(packed), packedSize(width))
			}
			unpack(&got, append(packed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), width)
			if got != values {
				t.Fatalf("%d bits: %v, want %v", width, got, values)
			}
		})
	}
}

func TestDocsBehindTheLastAreNotSummed(t *testing.T) {
	for _, c := range []struct {
		before, delta uint32
		width         int
		good          bool
	}{
		{math.MaxUint32, 0, 0, true},
		{maxDocs - 129, 0, 0, true},
		{1000, 1<<24 - 1, 24, true}, // too great for a segment: the last doc tells that
		{math.MaxUint32, 1<<25 - 1, 25, false},
		{5, 1<<32 - 1, 32, false},
		{math.MaxUint32, 10, 32, true},
	} {
		var values [listBlock]uint32
		for i := range values {
			values[i] = c.delta
		}
		good := sum(&values, c.before, c.width)
		if good != c.good {
			t.Errorf("%+v: %v", c, good)
		}
		for i := 1; good && i < len(values); i++ {
			if values[i] <= values[i-1] {
				t.Errorf("%+v: %d behind %d", c, values[i], values[i-1])
				break
			}
		}
	}
}
