package lz4

// Measure walks over the block at the beginning of src that decompresses to n
// bytes, without making them, and returns how many bytes of src it takes. It
// finds the errors that Decode finds, but for ErrOffset.
func Measure(src []byte, n int) (int, error) {
	s := 0
	for {
		if s >= len(src) {
			return s, ErrShort
		}
		token := src[s]
		s++
		literals := int(token >> 4)
		if literals == 15 {
			more, k := length(src[s:])
			if k == 0 {
				return s, ErrShort
			}
			literals += more
			s += k
		}
		if literals > n {
			return s, ErrLong
		}
		if literals > len(src)-s {
			return s, ErrShort
		}
		s += literals
		if n -= literals; n == 0 {
			return s, nil
		}
		if len(src)-s < 2 {
			return s, ErrShort
		}
		s += 2
		match := int(token & 15)
		if match == 15 {
			more, k := length(src[s:])
			if k == 0 {
				return s, ErrShort
			}
			match += more
			s += k
		}
		if match += minMatch; match > n {
			return s, ErrLong
		}
		if n -= match; n == 0 {
			return s, nil
		}
	}
}
