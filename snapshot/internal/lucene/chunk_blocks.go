package lucene

import (
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene/inflate"
	"github.com/reshelve/reshelve/snapshot/internal/lucene/lz4"
)

// compression is how a piece of a chunk, which is all of it unless the chunk is
// sliced, is laid out:
//
//	lz4Plain           block
//	deflatePlain       VInt compressed length, block; nothing but that 0 for no bytes
//	zstdPlain          the same; nothing at all for no bytes
//	zstdBlocks         VInt block length, then each block like deflatePlain
//	deflateDictionary  VInt dictionary length, VInt block length, then the
//	zstdDictionary     dictionary and each block like deflatePlain
//	lz4Dictionary      VInt dictionary length, VInt block length, VInt compressed
//	                   lengths of dictionary and of each block; dictionary, blocks
//
// A dictionary is the beginning of the piece's bytes. It is history to every
// block; no block is history to another one.
type compression int

const (
	lz4Plain compression = iota
	lz4Dictionary
	deflatePlain
	deflateDictionary
	zstdPlain
	zstdDictionary
	zstdBlocks
)

func (c compression) hasDictionary() bool {
	return c == lz4Dictionary || c == deflateDictionary || c == zstdDictionary
}

// blockReader decompresses the blocks of one piece after the other in one
// scratch that holds the dictionary and right behind it one block, so that
// history is contiguous to a decoder.
type blockReader struct {
	compression compression
	scratch     []byte // dictionary, block, room
	dictionary  int    // length in bytes
	dictPending bool   // the dictionary, as the first block, is still to be handed out
	blockLength int    // of each block but perhaps the last
	left        int    // decompressed bytes of the piece behind the blocks handed out
	sizes       []int  // compressed lengths, for lz4Dictionary
	sizesUsed   int    // how many of them belong to blocks that were consumed
	inflate     *inflate.Decoder
	zstd        *zstdDecoder
}

func newBlockReader(c compression) blockReader {
	b := blockReader{compression: c}
	switch c {
	case deflatePlain, deflateDictionary:
		b.inflate = new(inflate.Decoder)
	case zstdPlain, zstdBlocks, zstdDictionary:
		b.zstd = new(zstdDecoder)
	}
	return b
}

// scratchRoom is how many bytes behind a block a decoder may overwrite.
const scratchRoom = 64

// begin reads what stands before the blocks of a piece of n decompressed bytes.
func (b *blockReader) begin(s *stream, n int) {
	b.dictionary, b.dictPending, b.blockLength, b.left = 0, false, n, n
	b.sizes, b.sizesUsed = b.sizes[:0], 0
	switch {
	case b.compression.hasDictionary():
		b.beginDictionary(s, n)
	case b.compression == zstdBlocks:
		b.blockLength = s.vint()
		b.checkBlockLength(s, n)
	case n > 0 || b.compression == zstdPlain:
	default:
		b.unpack(s, 0, 0)
	}
}

func (b *blockReader) beginDictionary(s *stream, n int) {
	dictionary := s.vint()
	b.blockLength = s.vint()
	if dictionary > n {
		s.fail("a dictionary of %d bytes is promised in a chunk of %d bytes", dictionary, n)
		return
	}
	b.checkBlockLength(s, n-dictionary)
	if b.compression == lz4Dictionary {
		b.sizes = append(b.sizes, s.vint())
		for at := dictionary; at < n && s.err == nil; at += b.blockLength {
			b.sizes = append(b.sizes, s.vint())
		}
	}
	b.unpack(s, 0, dictionary)
	if s.err != nil {
		return
	}
	b.dictionary = dictionary
	b.dictPending = dictionary > 0
	if b.compression == zstdDictionary {
		b.zstd.useDictionary(b.scratch[:dictionary])
	}
}

func (b *blockReader) checkBlockLength(s *stream, n int) {
	if s.err == nil && n > 0 && b.blockLength == 0 {
		s.fail("blocks of no bytes are promised for %d bytes", n)
	}
}

// pending is the decompressed length of the next block, 0 at the end of the piece.
func (b *blockReader) pending() int {
	if b.dictPending {
		return b.dictionary
	}
	return min(b.blockLength, b.left)
}

// decode consumes the next block and returns its bytes, which stay valid until
// the next decode, pass or begin; nil after a failure.
func (b *blockReader) decode(s *stream) []byte {
	n := b.pending()
	b.left -= n
	if b.dictPending {
		b.dictPending = false
		return b.scratch[:n]
	}
	b.unpack(s, b.dictionary, n)
	if s.err != nil {
		return nil
	}
	return b.scratch[b.dictionary : b.dictionary+n]
}

// pass consumes the next block without decompressing it.
func (b *blockReader) pass(s *stream) {
	n := b.pending()
	b.left -= n
	switch {
	case b.dictPending:
		b.dictPending = false
	case b.compression == lz4Plain:
		if _, used := b.measure(s, n); s.err == nil {
			s.skip(int64(used))
		}
	default:
		s.skip(int64(b.size(s)))
	}
}

// size reads the compressed length of the next block.
func (b *blockReader) size(s *stream) int {
	if b.compression == lz4Dictionary {
		b.sizesUsed++
		return b.sizes[b.sizesUsed-1]
	}
	return s.vint()
}

// unpack decompresses the next block, of n bytes, to scratch[start:].
func (b *blockReader) unpack(s *stream, start, n int) {
	if b.compression == lz4Plain {
		b.unpackUnsized(s, n)
		return
	}
	size := b.size(s)
	src := s.peek(size)
	if s.err != nil {
		return
	}
	src = src[:size]
	used, err := 0, error(nil)
	switch b.compression {
	case lz4Dictionary:
		if b.reserve(s, start, n, size, lz4.MaxRatio) {
			used, err = lz4.Decode(b.scratch, start, start+n, src)
		}
	case deflatePlain, deflateDictionary:
		if n > 0 && b.reserve(s, start, n, size, inflate.MaxRatio) {
			used, err = b.inflate.Decode(b.scratch, start, start+n, src)
		}
	default:
		if n > 0 {
			used = size
			b.scratch, err = b.zstd.decode(b.scratch, start, start+n, src)
		}
	}
	if s.err == nil && err == nil && used != size {
		err = fault.New(fault.Corrupt, "%d compressed bytes are left over", size-used)
	}
	if fault.Is(err, fault.Refused) {
		s.failAt(s.offset(), err)
		return
	}
	if err != nil {
		s.fail("a block of %d bytes does not decompress to %d: %v", size, n, err)
		return
	}
	s.skip(int64(size))
}

// unpackUnsized decompresses an LZ4 block of n bytes whose compressed length is
// known only after it. A large one is measured first, so that the promise of its
// length allocates nothing.
func (b *blockReader) unpackUnsized(s *stream, n int) {
	const large = 1 << 20
	var src []byte
	if n > large {
		src, _ = b.measure(s, n)
	} else {
		src = s.peekUpTo(lz4.Bound(n))
	}
	if s.err != nil || !b.reserve(s, 0, n, len(src), lz4.MaxRatio) {
		return
	}
	used, err := lz4.Decode(b.scratch, 0, n, src)
	if err != nil {
		s.fail("a block does not decompress to %d bytes: %v", n, err)
		return
	}
	s.skip(int64(used))
}

// measure returns the LZ4 block of n decompressed bytes that comes next, and
// perhaps more, and how long it is. The window grows only as far as the block's
// sequences go on.
func (b *blockReader) measure(s *stream, n int) (src []byte, used int) {
	for wanted := int64(firstWindow); ; wanted *= 2 {
		src = s.peekUpTo(min(lz4.Bound(n), wanted))
		if s.err != nil {
			return nil, 0
		}
		used, err := lz4.Measure(src, n)
		if err == nil {
			return src, used
		}
		if err != lz4.ErrShort || int64(len(src)) >= min(lz4.Bound(n), s.left()) {
			s.fail("a block does not decompress to %d bytes: %v", n, err)
			return nil, 0
		}
	}
}

// reserve makes the scratch long enough for n bytes behind start, provided that
// size compressed bytes, which are there, can become so many. What stands before
// start is kept.
func (b *blockReader) reserve(s *stream, start, n, size, ratio int) bool {
	if n > 0 && int64(n) > int64(size)*int64(ratio) {
		s.fail("%d compressed bytes cannot become %d", size, n)
		return false
	}
	b.scratch = grow(b.scratch, start, start+n+scratchRoom)
	return true
}

// grow returns buf with at least n bytes of length, keeping its first keep bytes.
func grow(buf []byte, keep, n int) []byte {
	if len(buf) >= n {
		return buf
	}
	larger := make([]byte, max(n, min(2*len(buf), n+n/4)))
	copy(larger, buf[:keep])
	return larger
}
