package embedded

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Sources are packed one by one, before the shard's mutex is taken: then the log, the
// tables of recent writes and the cache hold more of them, and a get unpacks one and not
// the block that it lies in. Small ones are left to Pebble, which compresses neighbours
// together, and so are those that hardly get smaller, or that get so small that their
// length would not be bounded by what is stored.
const (
	minPacked  = 512 // bytes of a source
	worthPart  = 8   // one part of so many has to be saved at least
	mostPacked = 256 // times as long a source may be as what is stored
)

// packer finds repetitions quickly, and writes what is none with codes of unequal length:
// texts of 1 KB have few repetitions.
var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithAllLitEntropyCompression(true),
		zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(4), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// packs are the sources of a group in the form in which they are stored.
type packs struct {
	bytes []byte
	ends  []int // of each operation's; nothing when it is stored as it came
}

var spares = sync.Pool{New: func() any { return new(packs) }}

// pack packs the sources of a group. The packs are given back by release.
func pack(ops []shard.Op) *packs {
	p := spares.Get().(*packs)
	p.bytes, p.ends = p.bytes[:0], p.ends[:0]
	for i := range ops {
		from, source := len(p.bytes), ops[i].Source
		if len(source) >= minPacked && !ops[i].Delete {
			p.bytes = packer().EncodeAll(source, p.bytes)
			if size := len(p.bytes) - from; size > len(source)-len(source)/worthPart || len(source) > mostPacked*size {
				p.bytes = p.bytes[:from]
			}
		}
		p.ends = append(p.ends, len(p.bytes))
	}
	return p
}

// saved is how many bytes less the sources take than as they came.
func (p *packs) saved(ops []shard.Op) (n int) {
	for i := range ops {
		if packed := p.of(i); len(packed) > 0 {
			n += len(ops[i].Source) - len(packed)
		}
	}
	return n
}

// of is the packed source of an operation; empty: it is stored as it came.
func (p *packs) of(i int) []byte {
	if i == 0 {
		return p.bytes[:p.ends[0]]
	}
	return p.bytes[p.ends[i-1]:p.ends[i]]
}

func (p *packs) release() {
	if cap(p.bytes) <= 2*maxGroupBytes { // a large one is rare
		spares.Put(p)
	}
}

// unpack gives a source of so many bytes, in space when there is enough of that.
func unpack(space, packed []byte, size int) (source []byte, err error) {
	if size > mostPacked*len(packed) {
		return nil, fault.New(fault.Corrupt, "a source of %d bytes is packed into %d", size, len(packed))
	}
	if source, err = unpacker().DecodeAll(packed, slices.Grow(space[:0], size)[:0:size]); err != nil || len(source) != size {
		return nil, fault.New(fault.Corrupt, "a packed source has %d bytes of %d: %w", len(source), size, err)
	}
	return source, nil
}
