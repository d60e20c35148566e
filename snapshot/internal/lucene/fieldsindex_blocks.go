package lucene

import (
	"context"
	"encoding/binary"
	"sort"
)

// indexBlock is up to 1024 chunks of the fields index that Lucene 4.1 to 8.4
// wrote (CompressingStoredFieldsIndexWriter): first documents and offsets, each
// as a base, an average step and packed zigzag differences from it.
type indexBlock struct {
	firstChunk int // number of chunks in earlier blocks
	docs       averaged
	offsets    averaged
}

// averaged is a row of numbers: base + i·step + difference i.
type averaged struct {
	base, step int64
	width      int
	packed     []byte
}

func (a *averaged) at(i int) int64 {
	return a.base + int64(i)*a.step + unzigzag(packedBits(a.packed, int64(i)*int64(a.width), a.width, binary.BigEndian))
}

// readBlocks reads a .fdx that is all of the fields index.
func (f indexFiles) readBlocks(ctx context.Context, format *storedFormat, info FileInfo) (*fieldsIndex, error) {
	in, err := f.openBlocks(ctx, format)
	if err != nil {
		return nil, err
	}
	h := in.plainHeader()
	if format.family != lucene41 {
		in.idAndSuffix(&h, f.id, f.suffix)
	}
	if want := indexCodec(format.Codec); in.err == nil && (h.Codec != want || h.Version != format.Version) {
		in.fail("is codec %s version %d, the stored fields want %s version %d", h.Codec, h.Version, want, format.Version)
	}
	packedVersion := int(in.vint())
	var blocks []indexBlock
	chunks := 0
	for in.err == nil {
		n := int(in.vint())
		if n == 0 {
			break
		}
		b := indexBlock{firstChunk: chunks}
		b.docs.read(in, packedVersion, n)
		b.offsets.read(in, packedVersion, n)
		blocks = append(blocks, b)
		chunks += n
	}
	end := info.Length
	if format.hasFooter() {
		end = in.vlong()
	}
	if err := in.end(); err != nil {
		return nil, err
	}
	return &fieldsIndex{chunks: chunks, end: end, entry: func(i int) (int, int64) {
		b := &blocks[sort.Search(len(blocks), func(k int) bool { return blocks[k].firstChunk > i })-1]
		return int(b.docs.at(i - b.firstChunk)), b.offsets.at(i - b.firstChunk)
	}}, nil
}

// openBlocks returns a cursor over the .fdx, confirmed where it has a footer.
func (f indexFiles) openBlocks(ctx context.Context, format *storedFormat) (*input, error) {
	if format.hasFooter() {
		return readFile(ctx, f.dir, f.index)
	}
	data, _, err := readAll(ctx, f.dir, f.index)
	if err != nil {
		return nil, err
	}
	return newInput(f.index, data), nil
}

// indexCodec is the codec name of the .fdx beside a .fdt of the given one.
func indexCodec(data string) string { return data[:len(data)-len("Data")] + "Index" }

func (a *averaged) read(in *input, packedVersion, n int) {
	a.base, a.step, a.width = in.vlong(), in.vlong(), int(in.vint())
	if in.err == nil && (n < 0 || a.width < 0 || a.width > 64) {
		in.fail("%d numbers of %d bits are promised", n, a.width)
	}
	if in.err != nil {
		return
	}
	a.packed = in.bytes(packedLength(packedVersion, n, a.width))
}
