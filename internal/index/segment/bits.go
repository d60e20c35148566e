package segment

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// Bits is a set of docs: one bit for each doc of a segment. It may be read by many as
// long as nobody changes it. The zero value is empty and takes none: use NewBits.
type Bits struct {
	words []uint64
	n     int

	rest   atomic.Pointer[Bits]   // see Rest
	common atomic.Pointer[common] // see Common
}

// common is what a set has in common with others.
type common struct {
	with []*Bits
	all  *Bits
}

// NewBits is an empty set for docs below n.
func NewBits(n int) *Bits { return &Bits{words: make([]uint64, (n+63)/64), n: n} }

// Len is how many docs there may be: they are below it.
func (b *Bits) Len() int { return b.n }

// Has reports whether doc, which is below Len, is in the set.
func (b *Bits) Has(doc Doc) bool { return b.words[doc>>6]&(1<<(doc&63)) != 0 }

// Set puts doc, which is below Len, into the set.
func (b *Bits) Set(doc Doc) { b.words[doc>>6] |= 1 << (doc & 63) }

// Clear takes doc out of the set.
func (b *Bits) Clear(doc Doc) { b.words[doc>>6] &^= 1 << (doc & 63) }

// Clone is a copy.
func (b *Bits) Clone() *Bits { return &Bits{words: append([]uint64(nil), b.words...), n: b.n} }

// Add puts all docs of another set of the segment into b.
func (b *Bits) Add(other *Bits) {
	for i, w := range other.words {
		b.words[i] |= w
	}
}

// Keep takes all docs out of b that are not in another set of the segment.
func (b *Bits) Keep(other *Bits) {
	for i, w := range other.words {
		b.words[i] &= w
	}
}

// Rest is all docs that are not in the set, which nobody changes any more: it is made once, and
// shared.
func (b *Bits) Rest() *Bits {
	if r := b.rest.Load(); r != nil {
		return r
	}
	r := NewBits(b.n)
	for i, w := range b.words {
		r.words[i] = ^w
	}
	if over := b.n & 63; over != 0 {
		r.words[len(r.words)-1] &= 1<<over - 1
	}
	b.rest.Store(r)
	return r
}

// Common is the docs that are in all sets, none of which anybody changes any more: it is kept with
// the first one, and shared. Nil: there are none.
func Common(of ...*Bits) *Bits {
	first, others := of[0], of[1:]
	c := first.common.Load()
	if c == nil || !slices.Equal(c.with, others) {
		c = &common{with: slices.Clone(others), all: first.Clone()}
		for _, o := range others {
			c.all.Keep(o)
		}
		if c.all.Next(0) == End {
			c.all = nil
		}
		first.common.Store(c)
	}
	return c.all
}

// Count is how many docs are in the set.
func (b *Bits) Count() int {
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next is the first doc in the set from doc on, or End.
func (b *Bits) Next(doc Doc) Doc {
	if int(doc) >= b.n {
		return End
	}
	i := int(doc >> 6)
	w := b.words[i] >> (doc & 63)
	if w != 0 {
		return doc + Doc(bits.TrailingZeros64(w))
	}
	for i++; i < len(b.words); i++ {
		if b.words[i] != 0 {
			return Doc(i<<6 + bits.TrailingZeros64(b.words[i]))
		}
	}
	return End
}

// Words are the bits, 64 docs a word, the lowest doc in the lowest bit. They belong to
// the set.
func (b *Bits) Words() []uint64 { return b.words }

// after is the doc behind the last one in the set that is before doc; 0 when there is none.
func (b *Bits) after(doc Doc) Doc {
	if doc == 0 {
		return 0
	}
	i := int((doc - 1) >> 6)
	w := b.words[i] << (63 - (doc-1)&63)
	if w != 0 {
		return doc - Doc(bits.LeadingZeros64(w))
	}
	for i--; i >= 0; i-- {
		if b.words[i] != 0 {
			return Doc(i<<6 + 64 - bits.LeadingZeros64(b.words[i]))
		}
	}
	return 0
}
