package inflate

import (
	"encoding/binary"
	"errors"
)

var (
	// ErrCorrupt says that the source is no DEFLATE.
	ErrCorrupt = errors.New("inflate: the compressed data is damaged")
	// ErrShort says that the source ended before its last block did.
	ErrShort = errors.New("inflate: the compressed data ends too early")
	// ErrLong says that there is more output than was promised.
	ErrLong = errors.New("inflate: there is more data than was promised")
	// ErrLess says that there is less output than was promised.
	ErrLess = errors.New("inflate: there is less data than was promised")
)

// MaxRatio is the most bytes that one byte of source can become: 258 for two bits.
const MaxRatio = 1032

// Decoder decodes one source after the other. Its zero value is ready; it holds
// about 40 KB of tables. Not safe for concurrent use.
type Decoder struct {
	dst  []byte
	d    int // place in dst of the next byte
	end  int // place in dst behind the output
	src  []byte
	s    int    // place in src of the next byte that is not in bits
	bits uint64 // the next bits
	n    uint   // how many of them are valid

	literals  [literalSize]entry
	distances [distanceSize]entry
	fixed     bool // the tables are those of fixed blocks
}

// Decode fills dst[start:end] from the source, with dst[:start] as history, and
// returns how many bytes of src its blocks took. Bytes of dst behind end serve as
// room: they may be changed.
func (z *Decoder) Decode(dst []byte, start, end int, src []byte) (int, error) {
	z.dst, z.d, z.end, z.src, z.s, z.bits, z.n = dst, start, end, src, 0, 0, 0
	defer func() { z.dst, z.src = nil, nil }()
	for last := false; !last; {
		header, ok := z.take(3)
		if !ok {
			return z.s, ErrShort
		}
		last = header&1 != 0
		if err := z.block(header >> 1); err != nil {
			return z.s, err
		}
	}
	if z.d != end {
		return z.s, ErrLess
	}
	return z.s - int(z.n>>3), nil
}

func (z *Decoder) block(kind uint64) error {
	switch kind {
	case 0:
		return z.stored()
	case 1:
		z.useFixed()
	case 2:
		if err := z.readCodes(); err != nil {
			return err
		}
	default:
		return ErrCorrupt
	}
	if end, err := z.fast(); end || err != nil {
		return err
	}
	return z.careful()
}

// stored copies a block that is not compressed: its length, the complement of
// that, and the bytes, from the next whole byte on.
func (z *Decoder) stored() error {
	s := z.s - int(z.n>>3)
	z.bits, z.n = 0, 0
	if len(z.src)-s < 4 {
		return ErrShort
	}
	length := int(binary.LittleEndian.Uint16(z.src[s:]))
	if length^0xffff != int(binary.LittleEndian.Uint16(z.src[s+2:])) {
		return ErrCorrupt
	}
	s += 4
	if length > len(z.src)-s {
		return ErrShort
	}
	if length > z.end-z.d {
		return ErrLong
	}
	z.d += copy(z.dst[z.d:], z.src[s:s+length])
	z.s = s + length
	return nil
}

// refill takes bytes until bits has 56 or more, or the source is at its end.
func (z *Decoder) refill() {
	for z.n < 56 && z.s < len(z.src) {
		z.bits |= uint64(z.src[z.s]) << z.n
		z.s++
		z.n += 8
	}
}

// take consumes up to 56 bits; it is false at the end of the source.
func (z *Decoder) take(n uint) (uint64, bool) {
	if z.n < n {
		z.refill()
	}
	if z.n < n {
		return 0, false
	}
	v := z.bits & (1<<n - 1)
	z.bits >>= n
	z.n -= n
	return v, true
}
