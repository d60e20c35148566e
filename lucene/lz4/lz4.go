package lz4

import (
	"encoding/binary"
	"errors"
)

var (
	// ErrShort says that the source ended before the output was complete.
	ErrShort = errors.New("lz4: the compressed data ends too early")
	// ErrOffset says that a match reaches back behind the history.
	ErrOffset = errors.New("lz4: a match begins before the data")
	// ErrLong says that a sequence goes on behind the end of the output.
	ErrLong = errors.New("lz4: a sequence is longer than the data")
)

const (
	minMatch = 4
	// MaxRatio is the most bytes that one byte of source can become.
	MaxRatio = 255
)

// Bound is the most bytes that a well-made block of n decompressed bytes takes.
func Bound(n int) int64 { return int64(n) + int64(n)/255 + 16 }

// Decode fills dst[start:end] from the block at the beginning of src, with
// dst[:start] as history, and returns how many bytes of src the block took.
// Bytes of dst behind end serve as room for fast copies: they may be changed.
// An empty output still takes its one token.
func Decode(dst []byte, start, end int, src []byte) (int, error) {
	d, s := start, 0
	for {
		if s >= len(src) {
			return s, ErrShort
		}
		token := src[s]
		s++
		literals := int(token >> 4)
		if literals == 15 {
			more, n := length(src[s:])
			if n == 0 {
				return s, ErrShort
			}
			literals += more
			s += n
		}
		if literals > end-d {
			return s, ErrLong
		}
		if literals > len(src)-s {
			return s, ErrShort
		}
		copy(dst[d:d+literals], src[s:s+literals])
		d += literals
		s += literals
		if d == end {
			return s, nil
		}
		if len(src)-s < 2 {
			return s, ErrShort
		}
		offset := int(binary.LittleEndian.Uint16(src[s:]))
		s += 2
		match := int(token & 15)
		if match == 15 {
			more, n := length(src[s:])
			if n == 0 {
				return s, ErrShort
			}
			match += more
			s += n
		}
		match += minMatch
		if offset == 0 || offset > d {
			return s, ErrOffset
		}
		if match > end-d {
			return s, ErrLong
		}
		for i := range match {
			dst[d+i] = dst[d+i-offset]
		}
		d += match
		if d == end {
			return s, nil
		}
	}
}

// length reads the bytes that are added to a number of 15, and says how many
// they were: 0 when src ends before them.
func length(src []byte) (sum, n int) {
	for n < len(src) {
		b := src[n]
		sum += int(b)
		n++
		if b != 255 {
			return sum, n
		}
	}
	return 0, 0
}
