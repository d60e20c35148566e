package segment

import (
	"encoding/binary"
	"math/bits"
)

// listBlock is how many docs a block of a list has.
const listBlock = 128

// packWidth is how many bits the greatest value of a block is packed in.
func packWidth(greatest uint32) int {
	w := bits.Len32(greatest)
	if w > 28 {
		return 32
	}
	return w
}

// packedSize is the size of a packed block in bytes.
func packedSize(width int) int { return width * listBlock / 8 }

// pack appends a block of values of a width, which is one of packWidth's.
func pack(dst []byte, values *[listBlock]uint32, width int) []byte {
	if width == 0 {
		return dst
	}
	p := packer{out: dst, width: uint64(width)}
	for _, v := range values {
		p.add(uint64(v))
	}
	return p.close() // a multiple of 16 bytes
}

// unpack reads a block of values of a width from b, behind which are eight bytes more.
//
// A word of 64 bits holds several values: they are loaded at once where they fit beside the
// bits before them.
func unpack(values *[listBlock]uint32, b []byte, width int) {
	w := uint(width)
	switch {
	case w == 0:
		clear(values[:])
	case w <= 8:
		mask := uint64(1)<<w - 1
		for i := 0; i < listBlock; i += 8 {
			v := binary.LittleEndian.Uint64(b)
			b = b[w:]
			to := values[i : i+8 : i+8]
			to[0] = uint32(v & mask)
			to[1] = uint32(v >> (w & 63) & mask)
			to[2] = uint32(v >> (2 * w & 63) & mask)
			to[3] = uint32(v >> (3 * w & 63) & mask)
			to[4] = uint32(v >> (4 * w & 63) & mask)
			to[5] = uint32(v >> (5 * w & 63) & mask)
			to[6] = uint32(v >> (6 * w & 63) & mask)
			to[7] = uint32(v >> (7 * w & 63) & mask)
		}
	case w <= 16:
		mask, half, odd := uint64(1)<<w-1, w/2, w&1*4
		for i := 0; i < listBlock; i += 8 {
			v := binary.LittleEndian.Uint64(b)
			u := binary.LittleEndian.Uint64(b[half:]) >> odd
			b = b[w:]
			to := values[i : i+8 : i+8]
			to[0] = uint32(v & mask)
			to[1] = uint32(v >> (w & 63) & mask)
			to[2] = uint32(v >> (2 * w & 63) & mask)
			to[3] = uint32(v >> (3 * w & 63) & mask)
			to[4] = uint32(u & mask)
			to[5] = uint32(u >> (w & 63) & mask)
			to[6] = uint32(u >> (2 * w & 63) & mask)
			to[7] = uint32(u >> (3 * w & 63) & mask)
		}
	case w <= 28:
		mask := uint64(1)<<w - 1
		for i, bit := 0, uint(0); i < listBlock; i += 2 {
			v := binary.LittleEndian.Uint64(b[bit>>3:]) >> (bit & 7)
			bit += 2 * w
			values[i], values[i+1] = uint32(v&mask), uint32(v>>(w&63)&mask)
		}
	default:
		for i := range values {
			values[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	}
}

// sum turns values, which are deltas less one, into docs behind before, and reports
// whether they ascend: with wide deltas they may pass the greatest number.
func sum(values *[listBlock]uint32, before uint32, width int) bool {
	if width <= 24 { // 128 of them and a doc are less than 2³²
		for i, v := range values {
			before += v + 1
			values[i] = before
		}
		return true
	}
	at := uint64(before + 1)
	for i, v := range values {
		at += uint64(v)
		if at > maxDocs {
			return false
		}
		values[i] = uint32(at)
		at++
	}
	return true
}
