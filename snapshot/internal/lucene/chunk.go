package lucene

import "math"

// chunk is one unit of compression, as its head describes it: a row of
// documents, of each the number of fields and the length in bytes.
//
//	VInt first document, VInt number of documents and flags,
//	number of fields of each, length of each, compressed documents
type chunk struct {
	offset  int64 // of the head in the file
	base    int   // first document
	docs    int   // documents
	sliced  bool  // the documents are compressed in pieces of the chunk size
	fields  chunkInts
	lengths chunkInts
	total   int // sum of lengths
}

// readHead reads the head of the chunk that begins with document base.
func (c *chunk) readHead(s *stream, f *storedFormat, base, maxDoc int) {
	c.offset = s.offset()
	first := s.vint()
	token := s.vint()
	bits := f.flagBits()
	c.base, c.docs, c.sliced = base, token>>bits, bits > 0 && token&1 != 0
	switch {
	case s.err != nil:
		return
	case first != base:
		s.fail("a chunk begins with document %d, not %d", first, base)
		return
	case c.docs == 0 || c.docs > maxDoc-base:
		s.fail("a chunk promises %d documents, %d are left", c.docs, maxDoc-base)
		return
	}
	c.fields.read(s, f, c.docs)
	c.lengths.read(s, f, c.docs)
	total := c.lengths.sum()
	if total > math.MaxInt32 {
		s.fail("a chunk promises %d bytes of documents, more than 2 GB", total)
		return
	}
	c.total = int(total)
	if f.family == lucene41 && f.Version >= 1 {
		c.sliced = c.total >= 2*f.chunkSize
	}
}
