package lucene

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestChecksumsOfPartsMakeThatOfTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, length := range []int{0, 1, 2, 7, 8, 255, 4096, 100_003} {
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		for range 20 {
			cut := random.IntN(length + 1)
			a, b := crc32.ChecksumIEEE(data[:cut]), crc32.ChecksumIEEE(data[cut:])
			if got, want := crc32Combine(a, b, int64(length-cut)), crc32.ChecksumIEEE(data); got != want {
				t.Errorf("%d bytes cut at %d: %08x, want %08x", length, cut, got, want)
			}
		}
	}
}
