package lucene

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/reshelve/reshelve/internal/fault"
)

// monotonic is a row of ascending numbers in blocks of 1<<shift, as Lucene's
// DirectMonotonicWriter lays them out: of each block a minimum, an average step
// and packed differences from the line that these two make.
type monotonic struct {
	shift  int
	blocks []monotonicBlock
	packed []byte // of all blocks
	order  binary.ByteOrder
}

type monotonicBlock struct {
	base   int64
	step   float32
	offset int64 // in packed, bytes
	width  int
}

func (m *monotonic) at(i int) int64 {
	b := &m.blocks[i>>m.shift]
	i &= 1<<m.shift - 1
	line := int64(b.step * float32(i))
	return b.base + line + int64(packedBits(m.packed, b.offset*8+int64(i)*int64(b.width), b.width, m.order))
}

// readMeta reads the description of n numbers.
func (m *monotonic) readMeta(in *input, n, shift int) {
	const metaLength = 8 + 4 + 8 + 1
	m.shift, m.order = shift, in.order
	blocks := in.count(int32((int64(n)+1<<shift-1)>>shift), metaLength)
	m.blocks = make([]monotonicBlock, blocks)
	for i := range m.blocks {
		b := &m.blocks[i]
		b.base = in.int64()
		b.step = math.Float32frombits(uint32(in.int32()))
		b.offset = in.int64()
		b.width = int(in.byte())
	}
}

// setPacked gives the row its packed differences, [from, to) of the .fdx, after
// it has checked that those of n numbers are in there.
func (m *monotonic) setPacked(in *input, from, to int64, n int) {
	if in.err != nil {
		return
	}
	if from < 0 || from > to || to > int64(len(in.data)) {
		in.fail("numbers are said to lie at bytes %d to %d", from, to)
		return
	}
	m.packed = in.data[from:to]
	for i, b := range m.blocks {
		count := int64(min(1<<m.shift, n-i<<m.shift))
		if b.width > 64 || b.offset < 0 || b.offset > to-from || (count*int64(b.width)+7)/8 > to-from-b.offset {
			in.fail("block %d of numbers of %d bits at byte %d is not within %d bytes", i, b.width, b.offset, to-from)
			return
		}
	}
}

// indexMeta is what a .fdm says.
type indexMeta struct {
	chunkSize  int // 0 when it stands in the .fdt
	chunks     int
	docs       monotonic
	offsets    monotonic
	docsFrom   int64 // ranges in the .fdx
	docsTo     int64
	offsetsTo  int64
	end        int64 // of the last chunk in the .fdt
	indexCodec string
}

// readMeta reads the .fdm and confirms its checksum.
func (f indexFiles) readMeta(ctx context.Context, format *storedFormat, maxDoc int) (*indexMeta, error) {
	in, err := readFile(ctx, f.dir, f.meta)
	if err != nil {
		return nil, err
	}
	m := &indexMeta{}
	h := in.indexHeader(f.id, f.suffix)
	m.indexCodec = "Lucene85FieldsIndexIdx"
	want := "Lucene85FieldsIndexMeta"
	if format.family == lucene90 {
		m.indexCodec, want = "Lucene90FieldsIndexIdx", "Lucene90FieldsIndexMeta"
	}
	if in.err == nil && h.Codec != want {
		in.fail("is codec %s, the stored fields want %s", h.Codec, want)
	}
	in.order = format.order()
	if !format.chunkSizeInData() {
		m.chunkSize = int(in.vint())
		if format.family == lucene50 {
			if packed := in.vint(); in.err == nil && packed < packedByteAligned {
				in.fail("packed ints have version %d", packed)
			}
		}
	}
	m.readRows(in, maxDoc)
	return m, in.err // counts of chunks and documents follow
}

// readRows reads the description of the two rows of numbers in the .fdx.
func (m *indexMeta) readRows(in *input, maxDoc int) {
	docs, shift, entries := int(in.int32()), int(in.int32()), int(in.int32())
	if in.err == nil && (docs != maxDoc || shift < 0 || shift > 30 || entries < 1) {
		in.fail("%d chunks in blocks of 1<<%d hold %d documents, the segment has %d", entries-1, shift, docs, maxDoc)
	}
	if in.err != nil {
		return
	}
	m.chunks = entries - 1 // the last entry is the end of the last chunk
	m.docsFrom = in.int64()
	m.docs.readMeta(in, entries, shift)
	m.docsTo = in.int64()
	m.offsets.readMeta(in, entries, shift)
	m.offsetsTo = in.int64()
	m.end = in.int64()
}

// readMonotonic reads the fields index of Lucene 8.5 and later (FieldsIndexWriter).
func (f indexFiles) readMonotonic(ctx context.Context, format *storedFormat, maxDoc int) (*fieldsIndex, error) {
	m, err := f.readMeta(ctx, format, maxDoc)
	if err != nil {
		return nil, err
	}
	in, err := readFile(ctx, f.dir, f.index)
	if err != nil {
		return nil, err
	}
	if h := in.indexHeader(f.id, f.suffix); in.err == nil && (h.Codec != m.indexCodec || h.Version != 0) {
		in.fail("is codec %s version %d, the stored fields want %s version 0", h.Codec, h.Version, m.indexCodec)
	}
	m.docs.setPacked(in, m.docsFrom, m.docsTo, m.chunks+1)
	m.offsets.setPacked(in, m.docsTo, m.offsetsTo, m.chunks+1)
	if in.err != nil {
		return nil, in.err
	}
	if end := m.offsets.at(m.chunks); end != m.end || m.docs.at(m.chunks) != int64(maxDoc) {
		return nil, fault.At(fault.New(fault.Corrupt, "the last chunk is said to end with document %d at offset %d and at %d", m.docs.at(m.chunks), end, m.end), "file "+f.index)
	}
	return &fieldsIndex{chunks: m.chunks, end: m.end, entry: func(i int) (int, int64) {
		return int(m.docs.at(i)), m.offsets.at(i)
	}}, nil
}

// readChunkSize reads the size of slices, which stands in the .fdm.
func (f indexFiles) readChunkSize(ctx context.Context, format *storedFormat, maxDoc int) (int, error) {
	m, err := f.readMeta(ctx, format, maxDoc)
	if err != nil {
		return 0, err
	}
	return m.chunkSize, nil
}
