package routing

import (
	"math/bits"
	"unicode/utf8"
)

// Hash is murmur3 x86 32-bit over the UTF-16 little-endian code units of text:
// a character beyond the basic plane counts as its two surrogates. A byte that
// is no UTF-8 counts as U+FFFD. The algorithm is Austin Appleby's, in the public
// domain; seed 0 gives the routing hash of Elasticsearch and OpenSearch.
func Hash[T string | []byte](text T, seed uint32) uint32 {
	m := mixer{hash: seed}
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			m.unit(uint16(b))
			i++
			continue
		}
		r, size := decode(text, i)
		i += size
		if r < 0x10000 {
			m.unit(uint16(r))
			continue
		}
		r -= 0x10000
		m.unit(uint16(0xd800 + r>>10))
		m.unit(uint16(0xdc00 + r&0x3ff))
	}
	return m.sum()
}

func decode[T string | []byte](text T, at int) (rune, int) {
	switch t := any(text).(type) {
	case string:
		return utf8.DecodeRuneInString(t[at:])
	case []byte:
		return utf8.DecodeRune(t[at:])
	}
	return utf8.RuneError, 1
}

// mixer takes code units, two to a block.
type mixer struct {
	hash    uint32
	pending uint32 // the first unit of a block, while odd
	units   uint32
}

const c1, c2 = 0xcc9e2d51, 0x1b873593

func (m *mixer) unit(u uint16) {
	m.units++
	if m.units&1 == 1 {
		m.pending = uint32(u)
		return
	}
	k := m.pending | uint32(u)<<16
	k = bits.RotateLeft32(k*c1, 15) * c2
	m.hash = bits.RotateLeft32(m.hash^k, 13)*5 + 0xe6546b64
}

func (m *mixer) sum() uint32 {
	h := m.hash
	if m.units&1 == 1 {
		h ^= bits.RotateLeft32(m.pending*c1, 15) * c2
	}
	h ^= m.units * 2
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
