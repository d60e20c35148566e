// Package lucenetest reads blocks that Lucene has written, as they lie in its files, for the tests of
// the packages that decode them.
package lucenetest

import (
	"encoding/binary"
	"os"
	"testing"
)

// Block is one block of a chunk that Lucene 9.12 wrote.
type Block struct {
	Dictionary []byte
	Length     int // decompressed
	Data       []byte
}

// Blocks reads testdata/chunk.blocks, or the file that RESHELVE_BLOCKS names:
// of each block three little-endian 32-bit lengths (dictionary, decompressed,
// compressed), dictionary and compressed data.
func Blocks(t testing.TB) (all []Block) {
	t.Helper()
	path := "testdata/chunk.blocks"
	if other := os.Getenv("RESHELVE_BLOCKS"); other != "" {
		path = other
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		d, n, c := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:]), binary.LittleEndian.Uint32(data[8:])
		data = data[12:]
		all = append(all, Block{data[:d:d], int(n), data[d : d+c]})
		data = data[d+c:]
	}
	return all
}
