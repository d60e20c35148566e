package inflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
)

// MaxRatio is the most bytes that one byte of source can become.
const MaxRatio = 1032

// Decode: provisional.
func Decode(dst []byte, start, end int, src []byte) (int, error) {
	in := bytes.NewReader(src)
	r := flate.NewReaderDict(in, dst[:start])
	if _, err := io.ReadFull(r, dst[start:end]); err != nil {
		return 0, err
	}
	var one [1]byte
	if n, err := r.Read(one[:]); n != 0 || err != io.EOF {
		return 0, errors.New("inflate: more")
	}
	return len(src) - in.Len(), nil
}
