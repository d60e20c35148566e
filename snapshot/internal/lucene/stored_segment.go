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

// SplitStored cuts the segment's stored data into about n parts of equal length
// in bytes, without reading it: part i is the documents from result[i] to
// result[i+1], the first begins with 0 and the last ends with MaxDoc. Parts begin
// with chunks, so that passes over all of them read each byte of the file once.
// There are fewer than n when there are fewer chunks.
func (s *Segment) SplitStored(ctx context.Context, n int) ([]int, error) {
	cuts := []int{0}
	if n <= 1 || s.MaxDoc == 0 {
		return append(cuts, s.MaxDoc), nil
	}
	files := s.stored()
	info, err := files.stat()
	if err != nil {
		return nil, err
	}
	format, err := files.format(ctx, info)
	if err != nil {
		return nil, err
	}
	index, err := files.read(ctx, &format, info, files.maxDoc)
	if err != nil {
		return nil, err
	}
	length := index.end - int64(format.Length)
	for i := 1; i < n; i++ {
		wanted := int64(format.Length) + length/int64(n)*int64(i)
		chunk := index.chunkAtOffset(wanted)
		if chunk == index.chunks {
			break
		}
		if doc, _ := index.entry(chunk); doc > cuts[len(cuts)-1] {
			cuts = append(cuts, doc)
		}
	}
	return append(cuts, s.MaxDoc), nil
}
