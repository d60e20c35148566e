package aggregate

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// nullFirst reports whether what is missing comes before all else.
func (s *compositeSource) nullFirst() bool {
	switch s.of.MissingOrder {
	case "first":
		return true
	case "last":
		return false
	}
	return !s.of.Descending
}

// A value is written as a byte 1 and its bytes, which are turned over where the order is
// descending; what is missing is one byte, 0 or 2.
const (
	missingFirst = 0
	present      = 1
	missingLast  = 2
)

func (s *compositeSource) appendMissing(key []byte) []byte {
	if s.nullFirst() {
		return append(key, missingFirst)
	}
	return append(key, missingLast)
}

// appendValue writes the j-th value of the block.
func (s *compositeSource) appendValue(key []byte, j int) []byte {
	switch {
	case len(s.spell) > 0:
		return s.appendTerm(key, s.spell[j])
	case len(s.ords) > 0:
		ord := s.ords[j]
		if int(ord) >= len(s.cached) {
			return s.appendTerm(key, s.values.missingText)
		}
		if s.cached[ord] == nil {
			s.cached[ord] = s.appendTerm(nil, s.terms.text(nil, ord))
		}
		return append(key, s.cached[ord]...)
	}
	return s.appendBits(key, s.bits[j])
}

func (s *compositeSource) appendBits(key []byte, bits uint64) []byte {
	if s.fractional() {
		bits = sortable(bits)
	}
	bits ^= 1 << 63
	if s.of.Descending {
		bits = ^bits
	}
	return binary.BigEndian.AppendUint64(append(key, present), bits)
}

// fractional reports whether the numbers of the keys are doubles.
func (s *compositeSource) fractional() bool {
	switch s.scale.(type) {
	case *realScale:
		return true
	case *dateScale:
		return false
	}
	return s.values.class == reals
}

// appendTerm writes a text: a byte 0 in it becomes 0 255, and 0 0 ends it, so that no
// text is the beginning of another.
func (s *compositeSource) appendTerm(key, term []byte) []byte {
	key = append(key, present)
	start := len(key)
	for _, b := range term {
		if key = append(key, b); b == 0 {
			key = append(key, 255)
		}
	}
	key = append(key, 0, 0)
	if s.of.Descending {
		for i := start; i < len(key); i++ {
			key[i] = ^key[i]
		}
	}
	return key
}

// appendJSON appends the JSON of the value that a key begins with, and gives the rest of
// the key.
func (s *compositeSource) appendJSON(dst, key []byte) (_, rest []byte) {
	if key[0] != present {
		return append(dst, "null"...), key[1:]
	}
	key = key[1:]
	turned := byte(0)
	if s.of.Descending {
		turned = 255
	}
	if s.values.class == texts || s.values.class == nothing {
		var term []byte
		for i := 0; ; i++ {
			b := key[i] ^ turned
			if b == 0 {
				if i++; key[i]^turned == 0 {
					return s.values.appendTerm(dst, term), key[i+1:]
				}
			}
			term = append(term, b)
		}
	}
	bits := binary.BigEndian.Uint64(key)
	if s.of.Descending {
		bits = ^bits
	}
	return s.appendNumber(dst, bits^1<<63), key[8:]
}

func (s *compositeSource) appendNumber(dst []byte, bits uint64) []byte {
	if s.fractional() {
		bits = sortable(bits)
		if s.values.format.kind == decimals {
			return s.values.format.appendReal(dst, math.Float64frombits(bits))
		}
		return java.AppendReal(dst, math.Float64frombits(bits), 64)
	}
	switch {
	case s.values.class == counts && s.scale == nil:
		return strconv.AppendUint(dst, bits^1<<63, 10)
	case s.values.format.kind == truth:
		return strconv.AppendBool(dst, bits != 0)
	case s.values.format.kind == dates && !s.raw:
		return token.AppendString(dst, s.values.format.wholeText(nil, int64(bits)))
	}
	return strconv.AppendInt(dst, int64(bits), 10)
}
