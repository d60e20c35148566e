package lucene

import "context"

// StoredFormat is the codec name in the header of the segment's stored fields,
// which tells layout and compression. It reads the header alone.
func (s *Segment) StoredFormat(ctx context.Context) (string, error) {
	dir, name, _, _ := s.storedFiles()
	start, err := readRange(ctx, dir, name, 0, min(s.StoredBytes(), longestStoredHeader))
	if err != nil {
		return "", err
	}
	format, err := readStoredFormat(name, start, s.ID, "")
	return format.Codec, err
}

// StoredBytes is the length of the segment's stored fields, which a pass over
// its documents reads whole.
func (s *Segment) StoredBytes() int64 {
	dir, name, _, _ := s.storedFiles()
	info, _ := dir.Stat(name)
	return info.Length
}
