package lucene

import (
	"encoding/binary"
	"math"
)

// fieldTypeBits is how many of a stored field's lowest header bits are its type.
const fieldTypeBits = 3

// valueParser parses the fields of one document. The forms of numbers are those
// of Lucene's CompressingStoredFieldsWriter: fixed-width up to 4.10, then zigzag
// ints, longs with a unit of time, and floats that save the bytes of small
// integers.
type valueParser struct {
	data  []byte
	pos   int
	order binary.ByteOrder
	fixed bool   // numbers are fixed-width
	wrong string // what is wrong; sticks
}

// parse appends the n fields in data, which must fill it, to values.
func (p *valueParser) parse(values []StoredValue, data []byte, n int) []StoredValue {
	p.data, p.pos, p.wrong = data, 0, ""
	for range n {
		head := p.varint(10)
		field := head >> fieldTypeBits
		if field > math.MaxInt32 {
			p.fail("a field number is impossible")
		}
		values = append(values, StoredValue{Field: int32(field), Kind: ValueKind(head & (1<<fieldTypeBits - 1))})
		p.value(&values[len(values)-1])
		if p.wrong != "" {
			return values[:len(values)-1]
		}
	}
	if p.pos != len(p.data) {
		p.fail("its fields end before its length")
	}
	return values
}

func (p *valueParser) value(v *StoredValue) {
	switch v.Kind {
	case String, Bytes:
		n := p.varint(5)
		if n > uint64(len(p.data)-p.pos) {
			p.fail("a value is longer than the document")
			return
		}
		end := p.pos + int(n)
		v.Bytes = p.data[p.pos:end:end]
		p.pos = end
	case Int:
		v.Bits = uint64(p.int())
	case Float:
		v.Bits = uint64(p.float())
	case Long:
		v.Bits = uint64(p.long())
	case Double:
		v.Bits = p.double()
	default:
		p.fail("a value has an unknown type")
	}
}

func (p *valueParser) fail(what string) {
	if p.wrong == "" {
		p.wrong = what
	}
}

// varint reads a variable-length number of at most most bytes.
func (p *valueParser) varint(most int) uint64 {
	if p.pos < len(p.data) && p.data[p.pos] < 0x80 {
		p.pos++
		return uint64(p.data[p.pos-1])
	}
	var v uint64
	for shift := 0; most > 0; most-- {
		b := p.fixedBits(1)
		v |= (b & 0x7f) << shift
		if b < 0x80 {
			return v
		}
		shift += 7
	}
	p.fail("a variable-length number is too long")
	return 0
}

// fixedBits reads a number of n bytes (1, 2, 4 or 8).
func (p *valueParser) fixedBits(n int) uint64 {
	if n > len(p.data)-p.pos {
		p.fail("the document ends within a field")
		return 0
	}
	b := p.data[p.pos : p.pos+n]
	p.pos += n
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(p.order.Uint16(b))
	case 4:
		return uint64(p.order.Uint32(b))
	}
	return p.order.Uint64(b)
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (p *valueParser) int() int64 {
	if p.fixed {
		return int64(int32(p.fixedBits(4)))
	}
	return int64(int32(unzigzag(p.varint(5) & math.MaxUint32)))
}

// long reads a long: the lowest five bits, a flag that more follow, and a unit.
func (p *valueParser) long() int64 {
	if p.fixed {
		return int64(p.fixedBits(8))
	}
	head := p.fixedBits(1)
	v := head & 0x1f
	if head&0x20 != 0 {
		v |= p.varint(10) << 5
	}
	units := [4]int64{1, 1000, 3600_000, 24 * 3600_000} // ms, s, h, d
	return unzigzag(v) * units[head>>6]
}

// float returns the bits of a float: 0xff and four bytes; or 0x80 plus a small
// integer plus one; or the four bytes of a positive one.
func (p *valueParser) float() uint32 {
	if p.fixed {
		return uint32(p.fixedBits(4))
	}
	head := p.fixedBits(1)
	switch {
	case head == 0xff:
		return uint32(p.fixedBits(4))
	case head >= 0x80:
		return math.Float32bits(float32(int(head&0x7f) - 1))
	}
	middle := p.fixedBits(2)
	return uint32(head<<24 | middle<<8 | p.fixedBits(1))
}

// double is float with eight bytes, and 0xfe for one that is a float.
func (p *valueParser) double() uint64 {
	if p.fixed {
		return p.fixedBits(8)
	}
	head := p.fixedBits(1)
	switch {
	case head == 0xff:
		return p.fixedBits(8)
	case head == 0xfe:
		return math.Float64bits(float64(math.Float32frombits(uint32(p.fixedBits(4)))))
	case head >= 0x80:
		return math.Float64bits(float64(int(head&0x7f) - 1))
	}
	high := p.fixedBits(4)
	middle := p.fixedBits(2)
	return head<<56 | high<<24 | middle<<8 | p.fixedBits(1)
}
