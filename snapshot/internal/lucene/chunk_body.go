package lucene

import "github.com/reshelve/reshelve/internal/fault"

// chunkBody hands out ranges of a chunk's decompressed bytes in ascending order,
// block by block, so that memory is one block and the largest document. A range
// within one block is not copied, and blocks that nobody wants are not
// decompressed where the format allows it.
type chunkBody struct {
	blocks     blockReader
	total      int    // decompressed bytes of the chunk
	pieceSize  int    // decompressed bytes of each piece but perhaps the last
	begun      int    // decompressed bytes of the pieces that were begun
	from       int64  // offset of the chunk in the file
	block      []byte // the current block
	blockBegin int    // its place in the decompressed chunk
	blockEnd   int
	joined     []byte // a range over several blocks, kept for its memory
}

// reset starts a chunk of total bytes in pieces of pieceSize.
func (c *chunkBody) reset(s *stream, total, pieceSize int) {
	if total > 0 && pieceSize <= 0 {
		s.fail("a chunk is cut into pieces of no bytes")
	}
	c.total, c.pieceSize, c.begun, c.from = total, pieceSize, 0, s.offset()
	c.block, c.blockBegin, c.blockEnd = nil, 0, 0
	c.begin(s)
}

func (c *chunkBody) begin(s *stream) {
	n := min(c.pieceSize, c.total-c.begun)
	c.begun += n
	c.blocks.begin(s, n)
}

// coming is the decompressed length of the block behind the current one; it
// begins the next piece when needed.
func (c *chunkBody) coming(s *stream) int {
	if c.blocks.pending() == 0 {
		c.begin(s)
	}
	return c.blocks.pending()
}

// advance moves to the next block; its bytes are there only when wanted.
func (c *chunkBody) advance(s *stream, wanted bool) {
	c.blockBegin = c.blockEnd
	c.blockEnd += c.coming(s)
	c.block = nil
	switch {
	case s.err != nil:
	case wanted:
		c.block = c.blocks.decode(s)
	default:
		c.blocks.pass(s)
	}
}

// bytes returns n bytes from at on, which is not before an earlier at+n; they
// stay valid until the next call. Nil after a failure.
func (c *chunkBody) bytes(s *stream, at, n int) []byte {
	if n == 0 {
		return nil
	}
	for c.blockEnd <= at && s.err == nil {
		c.advance(s, c.blockEnd+c.coming(s) > at)
	}
	if s.err != nil {
		return nil
	}
	if at+n <= c.blockEnd {
		return c.block[at-c.blockBegin : at-c.blockBegin+n : at-c.blockBegin+n]
	}
	c.joined = append(c.joined[:0], c.block[at-c.blockBegin:]...)
	for len(c.joined) < n {
		if c.advance(s, true); s.err != nil {
			return nil
		}
		if most := mostExpanded(s.offset() - c.from); int64(len(c.joined)) > most {
			s.failAt(s.offset(), fault.New(fault.Refused, "a document of %d bytes is announced, and so few compressed bytes can hold at most %d", n, most))
			return nil
		}
		c.joined = append(c.joined, c.block[:min(len(c.block), n-len(c.joined))]...)
	}
	return c.joined
}

// finish passes over what is left of the chunk.
func (c *chunkBody) finish(s *stream) {
	for c.blockEnd < c.total && s.err == nil {
		c.advance(s, false)
	}
}
