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

// Most sequences are short: at most 14 literals and a match of at most 18 bytes.
// These are copied as one word and one and a half, whatever their lengths, which
// touches at most so many bytes of source and output. That they are constants lets the
// compiler leave out all checks but one for each array.
const (
	word       = 16
	fastSource = 32
	fastOutput = 64
)

// Decode fills dst[start:end] from the block at the beginning of src, with
// dst[:start] as history, and returns how many bytes of src the block took.
// Bytes of dst behind end serve as room for fast copies: they may be changed.
// An empty output still takes its one token.
//
//nolint:gocyclo // one hot loop, whose branches are those of the format
func Decode(dst []byte, start, end int, src []byte) (int, error) {
	d, s := start, 0
	for {
		// Here a short sequence fits source and output, whatever it says. What is
		// not short, or repeats within a word, is left to the general way below.
		for s+fastSource <= len(src) && d+fastOutput <= end {
			in, out := (*[fastSource]byte)(src[s:]), (*[fastOutput]byte)(dst[d:])
			literals := in[0] >> 4
			match := in[0] & 15
			if literals == 15 || match == 15 {
				break
			}
			*(*[word]byte)(out[:word]) = *(*[word]byte)(in[1 : 1+word])
			offset := int(binary.LittleEndian.Uint16(in[1+literals:]))
			from := d + int(literals) - offset
			if offset < word || from < 0 {
				break
			}
			to, back := (*[24]byte)(out[literals:]), (*[24]byte)(dst[from:])
			*(*[word]byte)(to[:word]) = *(*[word]byte)(back[:word])
			*(*[8]byte)(to[word:]) = *(*[8]byte)(back[word:])
			s += 3 + int(literals)
			d += int(literals) + int(match) + minMatch
		}
		if s >= len(src) {
			return s, ErrShort
		}
		token := src[s]
		s++
		literals := int(token >> 4)
		if literals < 15 && s+word <= len(src) && d+word <= len(dst) {
			// A word is copied whatever the number.
			if literals > end-d {
				return s, ErrLong
			}
			*(*[word]byte)(dst[d:]) = *(*[word]byte)(src[s:])
			s += literals
			d += literals
		} else {
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
			s += literals
			d += literals
		}
		if d == end {
			return s, nil
		}
		if len(src)-s < 2 {
			return s, ErrShort
		}
		offset := int(binary.LittleEndian.Uint16(src[s:]))
		s += 2
		match := int(token&15) + minMatch
		if match == 15+minMatch {
			more, n := length(src[s:])
			if n == 0 {
				return s, ErrShort
			}
			match += more
			s += n
		}
		from := d - offset
		if offset == 0 || from < 0 {
			return s, ErrOffset
		}
		if match > end-d {
			return s, ErrLong
		}
		if offset >= word && d+match+word <= len(dst) {
			for i := 0; i < match; i += word {
				*(*[word]byte)(dst[d+i:]) = *(*[word]byte)(dst[from+i:])
			}
		} else {
			copyMatch(dst, d, from, match)
		}
		if d += match; d == end {
			return s, nil
		}
	}
}

// copyMatch copies n bytes from from to d, which may overlap: then the bytes
// between the two repeat. What was copied is copied along, so that each step
// doubles.
func copyMatch(dst []byte, d, from, n int) {
	for end := d + n; d < end; {
		d += copy(dst[d:end], dst[from:d])
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
