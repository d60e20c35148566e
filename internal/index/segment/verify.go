package segment

// Verify compares all of the file with its checksums, whatever was compared before. The
// error is *Damaged.
func (s *Segment) Verify() error {
	return Guard(func() error {
		for page := range (s.src.body + pageSize - 1) >> pageShift {
			s.src.check(page)
		}
		return nil
	})
}
