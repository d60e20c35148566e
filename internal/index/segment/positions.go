package segment

import (
	"encoding/binary"
	"math/bits"
)

// positions reads those of one term after the other's doc.
type positions struct {
	block   int // whose positions are next; -1: none
	i       int // the doc of the block whose positions are next
	stream  *stream
	chunk   []byte // the next bytes
	at, end uint64 // what comes behind the chunk, and where all end
}

// fill gets more bytes when there are none.
func (c *positions) fill() {
	if len(c.chunk) > 0 {
		return
	}
	if c.at < c.end {
		c.chunk = c.stream.upTo(c.at, min(c.end-c.at, pageSize))
		c.at += uint64(len(c.chunk))
	}
	if len(c.chunk) == 0 {
		panic(damaged("positions end early"))
	}
}

// skip passes over n numbers.
func (c *positions) skip(n uint64) {
	for n > 0 {
		c.fill()
		k, left := skipVarints(c.chunk, n)
		c.chunk, n = c.chunk[k:], left
	}
}

// skipVarints is where n numbers end in b, and how many are left when it is too short.
func skipVarints(b []byte, n uint64) (end int, left uint64) {
	const high = 0x8080808080808080
	for n >= 8 && end+8 <= len(b) {
		n -= uint64(bits.OnesCount64(^binary.LittleEndian.Uint64(b[end:]) & high))
		end += 8
	}
	for n > 0 && end < len(b) {
		if b[end] < 0x80 {
			n--
		}
		end++
	}
	return end, n
}

// read appends the n positions of a doc.
func (c *positions) read(dst []uint32, n uint32) []uint32 {
	at := uint32(0)
	for n > 0 {
		c.fill()
		b, i := c.chunk, 0
		for n > 0 && i < len(b) {
			switch v := uint32(b[i]); {
			case v < 0x80:
				at += v
				i++
			case i+1 < len(b) && b[i+1] < 0x80:
				at += v&0x7f | uint32(b[i+1])<<7
				i += 2
			default:
				c.chunk = b[i:]
				at += c.long()
				b, i = c.chunk, 0
			}
			dst = append(dst, at)
			n--
		}
		c.chunk = b[i:]
	}
	return dst
}

// long reads a number of several bytes, which may be in several chunks.
func (c *positions) long() uint32 {
	v := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		c.fill()
		b := c.chunk[0]
		c.chunk = c.chunk[1:]
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return uint32(v)
		}
	}
	panic(damaged("a number does not end"))
}

// copy appends n numbers as they are written.
func (c *positions) copy(dst []byte, n uint64) []byte {
	for n > 0 {
		c.fill()
		k, left := skipVarints(c.chunk, n)
		dst = append(dst, c.chunk[:k]...)
		c.chunk, n = c.chunk[k:], left
	}
	return dst
}
