package lucene

import (
	"context"
	"encoding/binary"
	"sort"

	"github.com/reshelve/reshelve/internal/fault"
)

// indexFiles names the files that tell where the chunks of stored fields are.
type indexFiles struct {
	dir    Directory
	index  string // .fdx
	meta   string // .fdm, which only newer formats have
	id     ID     // of the segment
	suffix string // of the codec headers
}

// fieldsIndex tells where each chunk begins.
type fieldsIndex struct {
	chunks int
	// entry returns the first document of chunk i and its offset in the .fdt; it
	// is called with 0 ≤ i < chunks, and may return nonsense for a damaged index.
	entry func(i int) (doc int, offset int64)
	end   int64 // of the last chunk in the .fdt
}

// read reads the whole fields index and confirms its checksums.
func (f indexFiles) read(ctx context.Context, format *storedFormat, info FileInfo, maxDoc int) (x *fieldsIndex, err error) {
	if format.hasMeta() {
		x, err = f.readMonotonic(ctx, format, maxDoc)
	} else {
		x, err = f.readBlocks(ctx, format, info)
	}
	if err != nil {
		return nil, err
	}
	return x, fault.At(x.check(int64(format.Length), info.Length, maxDoc), "file "+f.index)
}

// chunkOf is the last chunk that begins at or before the document.
func (x *fieldsIndex) chunkOf(doc int) int {
	after := sort.Search(x.chunks, func(i int) bool {
		first, _ := x.entry(i)
		return first > doc
	})
	return max(after-1, 0)
}

// chunkAtOffset is the first chunk that begins at or behind the offset, or the
// number of chunks.
func (x *fieldsIndex) chunkAtOffset(offset int64) int {
	return sort.Search(x.chunks, func(i int) bool {
		_, at := x.entry(i)
		return at >= offset
	})
}

// check refuses an index whose chunks do not ascend from document 0, or do not
// lie in [from, to) of the .fdt.
func (x *fieldsIndex) check(from, to int64, maxDoc int) error {
	if x.end > to {
		return fault.New(fault.Corrupt, "the last chunk is said to end at offset %d of %d", x.end, to)
	}
	lastDoc, lastOffset := -1, from-1
	for i := range x.chunks {
		doc, offset := x.entry(i)
		if doc <= lastDoc || offset <= lastOffset || i == 0 && doc != 0 || doc >= maxDoc || offset >= x.end {
			return fault.New(fault.Corrupt, "chunk %d is said to begin with document %d at offset %d, the one before with document %d at offset %d", i, doc, offset, lastDoc, lastOffset)
		}
		lastDoc, lastOffset = doc, offset
	}
	if x.chunks == 0 && maxDoc > 0 {
		return fault.New(fault.Corrupt, "there are no chunks for %d documents", maxDoc)
	}
	return nil
}

// packedBits returns the value of width bits, at most 64, that begins at bit
// number bit of data: highest bit of each byte first (big-endian), or lowest
// first (little-endian). Data must hold it.
func packedBits(data []byte, bit int64, width int, order binary.ByteOrder) uint64 {
	var v uint64
	littleEndian := order == binary.ByteOrder(binary.LittleEndian)
	for got := 0; got < width; {
		b := uint64(data[bit>>3])
		in := int(bit & 7)
		n := min(8-in, width-got)
		if littleEndian {
			v |= b >> in & (1<<n - 1) << got
		} else {
			v = v<<n | b>>(8-in-n)&(1<<n-1)
		}
		got += n
		bit += int64(n)
	}
	return v
}
