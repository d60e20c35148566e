package lucene

import "context"

// OpenStored opens the segment's stored fields for one forward pass over the
// documents [from, to), where to is at most MaxDoc. A pass over all of them
// needs no other file; a part is found by the fields index (.fdx, .fdm), so that
// only its bytes are read. The caller closes the reader. Errors name file and
// offset; formats that cannot be read are Refused.
func (s *Segment) OpenStored(ctx context.Context, from, to int) (*StoredReader, error) {
	return openStored(ctx, s.stored(), from, to)
}

func (s *Segment) stored() storedFiles {
	dir, data, index, meta := s.storedFiles()
	return storedFiles{data: data, maxDoc: s.MaxDoc, indexFiles: indexFiles{dir: dir, index: index, meta: meta, id: s.ID}}
}
