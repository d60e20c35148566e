package segment

import (
	"math"
	"math/bits"
)

// freeLengths are the lengths that a byte holds as they are: so many of the 256 are left
// over by 4-bit floats up to the greatest int32.
const freeLengths = 24

// LengthByte rounds a length down to one of 256: as Lucene's SmallFloat.intToByte4 does, so
// that scores are the same. Up to 23 it is n; above, what exceeds 24 is a float with four
// significant bits.
func LengthByte(n uint32) byte {
	if n < freeLengths {
		return byte(n)
	}
	n = min(n, math.MaxInt32) - freeLengths
	width := bits.Len32(n)
	if width < 4 {
		return byte(freeLengths + n)
	}
	shift := width - 4
	return byte(freeLengths + (shift+1)<<3 + int(n>>shift)&7)
}

// Length is the length that a byte stands for: the least that LengthByte rounds to it.
func Length(b byte) uint32 {
	if b < freeLengths {
		return uint32(b)
	}
	b -= freeLengths
	if b < 8 {
		return freeLengths + uint32(b)
	}
	return freeLengths + uint32(b&7|8)<<(b>>3-1)
}
