package inflate

import "encoding/binary"

const (
	// fastSource is how many bytes a step of the fast loop may read: two refills.
	fastSource = 16
	// fastOutput is how many it may touch: two literals and the longest match,
	// which is copied in words.
	fastOutput = 2 + 258 + 24
)

// fast decodes symbols as long as a step fits source and output, whatever it
// says. It is true at the end of the block. The next symbol is looked up before
// a match is copied, so that the two overlap.
func (z *Decoder) fast() (end bool, err error) {
	dst, d, src, s, bits, n := z.dst, z.d, z.src, z.s, z.bits, z.n
	if s+fastSource > len(src) {
		return false, nil
	}
	sourceEnd, outputEnd := len(src)-fastSource, z.end-fastOutput
	literals, distances := &z.literals, &z.distances
	bits, n, s = refilled(bits, n, src, s)
	e := literals[bits&(1<<literalBits-1)]
	for s <= sourceEnd && d <= outputEnd {
		// 56 bits are there: three literals of the first table, or two of them and a
		// length, take at most 42.
		if e&literal != 0 {
			bits, n = bits>>(e&63), n-uint(e&63)
			dst[d] = byte(e >> 16)
			d++
			e = literals[bits&(1<<literalBits-1)]
			if e&literal != 0 {
				bits, n = bits>>(e&63), n-uint(e&63)
				dst[d] = byte(e >> 16)
				d++
				e = literals[bits&(1<<literalBits-1)]
				if e&literal != 0 {
					bits, n = bits>>(e&63), n-uint(e&63)
					dst[d] = byte(e >> 16)
					d++
					bits, n, s = refilled(bits, n, src, s)
					e = literals[bits&(1<<literalBits-1)]
					continue
				}
			}
		}
		if e&special != 0 {
			if e&second == second {
				bits, n = bits>>(e&63), n-uint(e&63)
				e = literals[uint(e>>16&0x7fff)+uint(bits)&(1<<(e>>8&15)-1)]
			}
			if e&(literal|special) != 0 {
				bits, n = bits>>(e&63), n-uint(e&63)
				if e&literal != 0 {
					dst[d] = byte(e >> 16)
					d++
					bits, n, s = refilled(bits, n, src, s)
					e = literals[bits&(1<<literalBits-1)]
					continue
				}
				if e&endBlock != endBlock {
					err = ErrCorrupt
				}
				end = true
				break
			}
		}
		length := e.value(bits)
		bits, n = bits>>(e&63), n-uint(e&63)
		if n < 28 {
			bits, n, s = refilled(bits, n, src, s)
		}
		e = distances[bits&(1<<distanceBits-1)]
		if e&special != 0 {
			if e&second == second {
				bits, n = bits>>(e&63), n-uint(e&63)
				e = distances[uint(e>>16&0x7fff)+uint(bits)&(1<<(e>>8&15)-1)]
			}
			if e&special != 0 {
				end, err = true, ErrCorrupt
				break
			}
		}
		distance := e.value(bits)
		from := d - distance
		if from < 0 {
			end, err = true, ErrCorrupt
			break
		}
		bits, n = bits>>(e&63), n-uint(e&63)
		bits, n, s = refilled(bits, n, src, s)
		e = literals[bits&(1<<literalBits-1)]
		if distance >= 8 {
			to, back := (*[24]byte)(dst[d:]), (*[24]byte)(dst[from:])
			*(*[8]byte)(to[:8]) = *(*[8]byte)(back[:8])
			*(*[8]byte)(to[8:16]) = *(*[8]byte)(back[8:16])
			*(*[8]byte)(to[16:24]) = *(*[8]byte)(back[16:24])
			for i := 24; i < length; i += 8 {
				*(*[8]byte)(dst[d+i:]) = *(*[8]byte)(dst[from+i:])
			}
		} else {
			repeat(dst, d, from, length)
		}
		d += length
	}
	// Only valid bits are kept, and whole bytes that are not needed given back.
	s -= int(n >> 3)
	n &= 7
	z.d, z.s, z.bits, z.n = d, s, bits&(1<<n-1), n
	return end, err
}

// refilled takes bytes of src, at least eight of which are left, until bits has 56
// or more.
func refilled(bits uint64, n uint, src []byte, s int) (uint64, uint, int) {
	return bits | binary.LittleEndian.Uint64(src[s:])<<(n&63), n | 56, s + int((63-n)>>3)
}

// repeat copies length bytes from from to d, one after the other.
func repeat(dst []byte, d, from, length int) {
	for i := range length {
		dst[d+i] = dst[from+i]
	}
}

// careful decodes symbols to the end of the block, and asks before each step
// whether source and output have what it takes.
func (z *Decoder) careful() error {
	for {
		e, err := z.symbol(z.literals[:], literalBits)
		if err != nil {
			return err
		}
		switch {
		case e&literal != 0:
			if z.d == z.end {
				return ErrLong
			}
			z.dst[z.d] = byte(e >> 16)
			z.d++
			continue
		case e&endBlock == endBlock:
			return nil
		}
		length, err := z.number(e)
		if err != nil {
			return err
		}
		if e, err = z.symbol(z.distances[:], distanceBits); err != nil {
			return err
		}
		distance, err := z.number(e)
		if err != nil {
			return err
		}
		if distance > z.d {
			return ErrCorrupt
		}
		if length > z.end-z.d {
			return ErrLong
		}
		repeat(z.dst, z.d, z.d-distance, length)
		z.d += length
	}
}

// symbol looks up the next symbol; of a literal and an end it consumes the code,
// of a length or distance nothing of the last table.
func (z *Decoder) symbol(table []entry, tableBits uint) (entry, error) {
	z.refill()
	e := table[z.bits&(1<<tableBits-1)]
	if e&second == second && e.used() <= z.n {
		z.consume(e)
		e = table[uint(e>>16&0x7fff)+uint(z.bits)&(1<<(e>>8&15)-1)]
	}
	switch {
	case e.used() > z.n:
		return 0, ErrShort
	case e&special != 0 && e&endBlock != endBlock:
		return 0, ErrCorrupt
	case e&(literal|special) != 0:
		z.consume(e)
	}
	return e, nil
}

// number consumes a length or distance and returns it.
func (z *Decoder) number(e entry) (int, error) {
	if e.used() > z.n {
		z.refill()
	}
	if e.used() > z.n {
		return 0, ErrShort
	}
	v := e.value(z.bits)
	z.consume(e)
	return v, nil
}

func (z *Decoder) consume(e entry) {
	z.bits >>= e.used()
	z.n -= e.used()
}
