package xcontent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"

	"github.com/fxamacker/cbor/v2"
	"github.com/reshelve/reshelve/internal/fault"
)

// selfDescribed is tag 55799, which says "this is CBOR".
const selfDescribed = "\xd9\xd9\xf7"

// Major types, the upper three bits of an item's first byte (RFC 8949 §3.1).
const (
	majorUnsigned = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

// Tags that change what is written (RFC 8949 §3.4); others are passed over.
const (
	tagBignum          = 2
	tagNegativeBignum  = 3
	tagDecimalFraction = 4
	tagStringReference = 25
	tagStringNamespace = 256
)

const indefinite = 31 // additional information: no length, ends with a break

const breakByte = 0xff

// wellformed checks the structure of a CBOR item before we walk it.
var wellformed = func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		MaxNestedLevels:  maxDepth,
		MaxArrayElements: math.MaxInt32,
		MaxMapPairs:      math.MaxInt32,
	}.DecMode()
	if err != nil {
		panic(err) // constant options
	}
	return mode
}()

// cborReader turns one well-formed CBOR item into JSON, in the order in which it
// is written. Lengths, nesting and breaks have been checked: it looks at meaning.
type cborReader struct {
	data []byte
	pos  int
	out  []byte
	most int    // how long out may become
	join []byte // scratch for strings in pieces
}

func appendCBOR(dst, data []byte, most int) ([]byte, error) {
	if err := wellformed.Wellformed(data); err != nil {
		var deep *cbor.MaxNestedLevelError
		if errors.As(err, &deep) {
			return dst, tooDeep()
		}
		return dst, fault.New(fault.Corrupt, "%w", err)
	}
	r := cborReader{data: data, out: dst, most: len(dst) + most}
	if tag, err := r.tags(); err != nil {
		return dst, err
	} else if tag != noTag || r.major() != majorMap {
		return dst, corrupt(r.pos, "no object begins here")
	}
	if err := r.value(); err != nil {
		return dst, err
	}
	return r.out, nil
}

func (r *cborReader) major() byte { return r.data[r.pos] >> 5 }

// head reads an item's first byte and its argument (RFC 8949 §3).
func (r *cborReader) head() (major, info byte, argument uint64) {
	b := r.data[r.pos]
	r.pos++
	major, info = b>>5, b&31
	switch info {
	case 24:
		argument = uint64(r.data[r.pos])
		r.pos++
	case 25:
		argument = uint64(binary.BigEndian.Uint16(r.data[r.pos:]))
		r.pos += 2
	case 26:
		argument = uint64(binary.BigEndian.Uint32(r.data[r.pos:]))
		r.pos += 4
	case 27:
		argument = binary.BigEndian.Uint64(r.data[r.pos:])
		r.pos += 8
	default:
		argument = uint64(info)
	}
	return major, info, argument
}

const noTag = 0 // tag 0 is a date string: nothing that we act upon

// tags passes over an item's tags and returns the one that matters, or noTag.
func (r *cborReader) tags() (uint64, error) {
	found := uint64(noTag)
	for r.major() == majorTag {
		at := r.pos
		switch _, _, tag := r.head(); tag {
		case tagBignum, tagNegativeBignum, tagDecimalFraction:
			found = tag
		case tagStringReference, tagStringNamespace:
			return 0, fault.New(fault.Refused, "string references (tag %d at byte %d)", tag, at)
		}
	}
	return found, nil
}

// value writes the next item.
func (r *cborReader) value() error {
	tag, err := r.tags()
	if err != nil {
		return err
	}
	switch r.major() {
	case majorUnsigned, majorNegative:
		r.writeInteger()
		return nil
	case majorBytes:
		b := r.str()
		if tag == tagBignum || tag == tagNegativeBignum {
			n, err := bignum(tag, b)
			if err == nil {
				r.out = n.Append(r.out, 10)
			}
			return err
		}
		r.out = appendBase64(r.out, b)
		return nil
	case majorText:
		return r.text()
	case majorArray:
		if tag == tagDecimalFraction {
			return r.decimalFraction()
		}
		return r.container('[', ']', r.value)
	case majorMap:
		return r.container('{', '}', r.member)
	}
	r.simple()
	return nil
}

// container writes the elements of an array or object, each with element.
func (r *cborReader) container(opening, closing byte, element func() error) error {
	_, info, count := r.head()
	r.out = append(r.out, opening)
	for i := uint64(0); info == indefinite || i < count; i++ {
		if info == indefinite && r.data[r.pos] == breakByte {
			r.pos++
			break
		}
		r.out = appendComma(r.out)
		if err := element(); err != nil {
			return err
		}
		if len(r.out) > r.most {
			return errTooLong
		}
	}
	r.out = append(r.out, closing)
	return nil
}

// member writes a name and its value. Integers may be names, as for the servers.
func (r *cborReader) member() error {
	at := r.pos
	switch r.major() {
	case majorText, majorBytes:
		if err := r.text(); err != nil {
			return err
		}
	case majorUnsigned, majorNegative:
		r.out = append(r.out, '"')
		r.writeInteger()
		r.out = append(r.out, '"')
	default:
		return corrupt(at, "a name is neither a string nor an integer")
	}
	r.out = append(r.out, ':')
	return r.value()
}

// text writes a string of text (or, as a name, of bytes).
func (r *cborReader) text() error {
	at := r.pos
	var err error
	r.out, err = appendString(r.out, r.str(), r.most)
	return wrongText(err, at)
}

// str reads a string of bytes or text, joining the pieces of an indefinite one.
// The result is valid until the next call.
func (r *cborReader) str() []byte {
	_, info, size := r.head()
	if info != indefinite {
		r.pos += int(size)
		return r.data[r.pos-int(size) : r.pos]
	}
	r.join = r.join[:0]
	for r.data[r.pos] != breakByte {
		_, _, size := r.head()
		r.join = append(r.join, r.data[r.pos:r.pos+int(size)]...)
		r.pos += int(size)
	}
	r.pos++
	return r.join
}

// writeInteger writes an integer of major type 0 or 1.
func (r *cborReader) writeInteger() {
	at := r.pos
	switch major, _, n := r.head(); {
	case major == majorUnsigned:
		r.out = strconv.AppendUint(r.out, n, 10)
	case n <= math.MaxInt64:
		r.out = strconv.AppendInt(r.out, ^int64(n), 10)
	default:
		r.pos = at
		r.out = r.integer().Append(r.out, 10)
	}
}

// integer reads an integer of major type 0 or 1.
func (r *cborReader) integer() *big.Int {
	major, _, n := r.head()
	i := new(big.Int).SetUint64(n)
	if major == majorNegative {
		i.Not(i)
	}
	return i
}

// bignum is the integer with the magnitude b. A negative one is minus b: Jackson
// 2 writes and reads it so, and RFC 8949 would say one less.
func bignum(tag uint64, b []byte) (*big.Int, error) {
	if len(b) > maxBigBytes {
		return nil, tooBig(len(b))
	}
	n := new(big.Int).SetBytes(b)
	if tag == tagNegativeBignum {
		n.Neg(n)
	}
	return n, nil
}

// decimalFraction writes an array of a decimal exponent and a mantissa as a number.
func (r *cborReader) decimalFraction() error {
	at := r.pos
	_, info, count := r.head()
	var parts [2]*big.Int
	for i := range parts {
		if info == indefinite && r.data[r.pos] == breakByte || info != indefinite && count != 2 {
			return corrupt(at, "a decimal fraction does not have two parts")
		}
		n, err := r.anyInteger()
		if err != nil {
			return err
		}
		parts[i] = n
	}
	if info == indefinite {
		if r.data[r.pos] != breakByte {
			return corrupt(at, "a decimal fraction does not have two parts")
		}
		r.pos++
	}
	if !parts[0].IsInt64() || parts[0].Int64() > math.MaxInt32 || parts[0].Int64() < -math.MaxInt32 {
		return corrupt(at, "a decimal fraction has the exponent %s", strconv.Quote(parts[0].Text(16)))
	}
	r.out = appendDecimal(r.out, parts[1], -parts[0].Int64())
	return nil
}

// anyInteger reads an integer or a bignum.
func (r *cborReader) anyInteger() (*big.Int, error) {
	at := r.pos
	tag, err := r.tags()
	if err != nil {
		return nil, err
	}
	switch major := r.major(); {
	case major == majorUnsigned, major == majorNegative:
		return r.integer(), nil
	case major == majorBytes && (tag == tagBignum || tag == tagNegativeBignum):
		return bignum(tag, r.str())
	}
	return nil, corrupt(at, "a part of a decimal fraction is no integer")
}

// simple writes an item of major type 7.
func (r *cborReader) simple() {
	_, info, argument := r.head()
	switch info {
	case 20:
		r.out = append(r.out, "false"...)
	case 21:
		r.out = append(r.out, "true"...)
	case 22, 23: // null, undefined
		r.out = append(r.out, "null"...)
	case 25:
		r.out = appendFloat(r.out, halfFloat(uint16(argument)), 32)
	case 26:
		r.out = appendFloat(r.out, float64(math.Float32frombits(uint32(argument))), 32)
	case 27:
		r.out = appendFloat(r.out, math.Float64frombits(argument), 64)
	default:
		r.out = strconv.AppendUint(r.out, argument, 10)
	}
}

// halfFloat is the IEEE 754 binary16 number of these bits (RFC 8949 appendix D).
func halfFloat(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&0x3ff)
	var f float64
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	default:
		f = math.Ldexp(fraction+1024, exponent-25)
	}
	if bits&0x8000 != 0 {
		return -f
	}
	return f
}

// beginsLikeCBOR reports whether data begins with a map, definite or not, or with
// the self-describe tag.
func beginsLikeCBOR(data []byte) bool {
	if bytes.HasPrefix(data, []byte(selfDescribed)) {
		return true
	}
	return len(data) > 0 && (data[0] >= 0xa0 && data[0] <= 0xbb || data[0] == 0xbf)
}
