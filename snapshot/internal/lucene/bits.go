package lucene

import "math/bits"

// Bits is a set of document numbers below a segment's MaxDoc. A nil Bits holds
// all of them. It is immutable once built, and safe for concurrent use.
type Bits struct {
	words  []uint64 // bit d&63 of word d>>6: document d
	maxDoc int
}

// newBits returns the empty set. Memory: maxDoc/8 bytes; the caller made sure
// that a file's length justifies them.
func newBits(maxDoc int) *Bits {
	return &Bits{words: make([]uint64, (maxDoc+63)/64), maxDoc: maxDoc}
}

// Has reports whether doc, which is below MaxDoc, is in the set.
func (b *Bits) Has(doc int) bool {
	return b == nil || b.words[doc>>6]>>(doc&63)&1 != 0
}

// Count is the number of documents in the set; −1 for a nil Bits, which does
// not know MaxDoc.
func (b *Bits) Count() int {
	if b == nil {
		return -1
	}
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b *Bits) set(doc int) { b.words[doc>>6] |= 1 << (doc & 63) }

// setRange sets [from, to).
func (b *Bits) setRange(from, to int) {
	for ; from < to && from&63 != 0; from++ {
		b.set(from)
	}
	for ; from+64 <= to; from += 64 {
		b.words[from>>6] = ^uint64(0)
	}
	for ; from < to; from++ {
		b.set(from)
	}
}

// andNot returns b without the documents of other, and how many both held. Nil b
// is all documents.
func (b *Bits) andNot(other *Bits) (rest *Bits, both int) {
	rest = newBits(other.maxDoc)
	for i, o := range other.words {
		w := ^uint64(0)
		if b != nil {
			w = b.words[i]
		}
		both += bits.OnesCount64(w & o)
		rest.words[i] = w &^ o
	}
	rest.clearTail()
	return rest, both
}

// clearTail clears what lies behind the last document, and reports whether there
// was anything.
func (b *Bits) clearTail() bool {
	if b.maxDoc&63 == 0 {
		return false
	}
	last := &b.words[len(b.words)-1]
	tail := *last &^ (1<<(b.maxDoc&63) - 1)
	*last &^= tail
	return tail != 0
}
