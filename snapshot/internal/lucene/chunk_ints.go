package lucene

import (
	"encoding/binary"
	"math/bits"
)

// chunkInts is a number for each document of a chunk. Its memory follows the
// bytes that the file has for it: one number for all takes none.
type chunkInts struct {
	same   uint32   // the number of all, when values is empty
	n      int      // how many
	values []uint32 // one for each, or empty
	room   []uint32 // the memory of values, kept for the next chunk
}

func (c *chunkInts) at(i int) int {
	if len(c.values) == 0 {
		return int(c.same)
	}
	return int(c.values[i])
}

func (c *chunkInts) sum() int64 {
	if len(c.values) == 0 {
		return int64(c.same) * int64(c.n)
	}
	var sum int64
	for _, v := range c.values {
		sum += int64(v)
	}
	return sum
}

// read reads n numbers in the way of the format.
func (c *chunkInts) read(s *stream, f *storedFormat, n int) {
	c.n, c.values = n, nil
	switch {
	case n == 1:
		c.same = uint32(s.vint())
	case f.family == lucene90:
		c.readBlocks(s, n)
	default:
		c.readPacked(s, f.packedVersion, n)
	}
}

// reserve makes values n long.
func (c *chunkInts) reserve(n int) {
	if cap(c.room) < n {
		c.room = make([]uint32, n)
	}
	c.values = c.room[:n]
}

// readPacked reads the form before Lucene 9: a VInt with the bits per value, 0
// for one VInt that is the value of all, then big-endian packed bits (Lucene's
// PackedInts, format PACKED), before version 1 padded to whole 64-bit words.
func (c *chunkInts) readPacked(s *stream, version, n int) {
	width := s.vint()
	if width == 0 {
		c.same = uint32(s.vint())
		return
	}
	if width > 31 {
		s.fail("numbers of %d bits are promised, at most 31 are possible", width)
		return
	}
	data := s.next(packedLength(version, n, width))
	if data == nil {
		return
	}
	c.reserve(n)
	var acc uint64
	have := 0
	for i := range c.values {
		for have < width {
			acc = acc<<8 | uint64(data[0])
			data = data[1:]
			have += 8
		}
		have -= width
		c.values[i] = uint32(acc>>have) & (1<<width - 1)
	}
}

// packedByteAligned is the version of packed ints that ended the padding. All
// writers since Lucene 4.2 use it or a newer one, so that formats which keep the
// version in the .fdm need not read it.
const packedByteAligned = 1

// packedLength is how many bytes n packed values take.
func packedLength(version, n, width int) int {
	hi, lo := bits.Mul64(uint64(n), uint64(width))
	if hi != 0 || lo > 1<<40 {
		return -1
	}
	if version < packedByteAligned {
		return int((lo + 63) / 64 * 8)
	}
	return int((lo + 7) / 8)
}

// readBlocks reads the form of Lucene 9 (its StoredFieldsInts): a byte with the
// bits per value, 0 for one VInt that is the value of all. Each 128 values are
// laid out in columns, 64/width of them, over little-endian 64-bit words with
// the first column in the highest bits; what is left over stands in a row.
func (c *chunkInts) readBlocks(s *stream, n int) {
	const block = 128
	width := int(s.byte())
	switch width {
	case 0:
		c.same = uint32(s.vint())
		return
	case 8, 16, 32:
	default:
		s.fail("numbers of %d bits are promised; only 0, 8, 16 and 32 are known", width)
		return
	}
	data := s.next(n * (width / 8))
	if data == nil {
		return
	}
	c.reserve(n)
	values := c.values
	rows := block * width / 64
	for ; len(values) >= block; values = values[block:] {
		for row := range rows {
			word := binary.LittleEndian.Uint64(data[row*8:])
			for column := 64/width - 1; column >= 0; column-- {
				values[column*rows+row] = uint32(word & (1<<width - 1))
				word >>= width
			}
		}
		data = data[rows*8:]
	}
	for i := range values {
		switch width {
		case 8:
			values[i] = uint32(data[i])
		case 16:
			values[i] = uint32(binary.LittleEndian.Uint16(data[i*2:]))
		default:
			values[i] = binary.LittleEndian.Uint32(data[i*4:])
		}
	}
}
