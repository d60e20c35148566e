package segment

import (
	"math"

	"github.com/reshelve/reshelve/internal/fault"
)

// occurrence is a term of the current doc. They are collected, and put into the table many
// at a time: the processor then waits for several places of memory at once.
type occurrence struct {
	key      termKey
	text     uint32 // where the term is in the field's text, when it is long
	position uint32
	again    bool // it is where the term was before
}

// flushAt is how many occurrences are collected at most.
const flushAt = 64

// Term puts a term without place: once for each occurrence. With a column of ordinals
// it is a value of the doc. In a field with positions it is where the term was before, or
// at 0.
func (f *FieldBuilder) Term(term []byte) { f.occur(term, 0, true) }

// Token puts a term at a position. Positions of a doc do not fall.
func (f *FieldBuilder) Token(term []byte, position uint32) { f.occur(term, position, false) }

// occur collects an occurrence.
func (f *FieldBuilder) occur(term []byte, position uint32, again bool) {
	f.touch()
	if f.spec.Postings == NoPostings && f.spec.Column != Ordinals {
		return
	}
	if len(f.pending) == flushAt {
		f.flush()
	}
	o := occurrence{key: keyOf(term), position: position, again: again}
	if len(term) > short {
		if len(term) > maxTerm {
			f.b.fail(fault.New(fault.Bug, "a term of the field %q has %d bytes", f.name, len(term)))
			return
		}
		o.text = uint32(len(f.text))
		f.text = append(f.text, term...)
	}
	f.pending = append(f.pending, o)
}

// flush puts what was collected into the table and the chains.
func (f *FieldBuilder) flush() {
	var slots [flushAt]uint64
	var numbers [flushAt]uint32
	for i := range f.pending {
		slots[i&(flushAt-1)] = f.terms.slot(f.pending[i].key.hash)
	}
	for i := range f.pending {
		o := &f.pending[i]
		numbers[i&(flushAt-1)] = f.find(o, slots[i&(flushAt-1)])
	}
	for i := range f.pending {
		o, n := &f.pending[i], numbers[i&(flushAt-1)]
		f.put(&f.terms.states[n], n, o)
	}
	f.pending, f.text = f.pending[:0], f.text[:0]
}

// find is the number of the term of an occurrence, which is most likely that of a slot.
func (f *FieldBuilder) find(o *occurrence, slot uint64) uint32 {
	if n := uint32(slot) - 1; slot != 0 && o.key.size <= short && f.terms.states[n].key == o.key {
		return n
	}
	var buf [short]byte
	term := buf[:0]
	if o.key.size <= short {
		term = o.key.appendTo(term)
	} else {
		term = f.text[o.text : o.text+o.key.size]
	}
	n, isNew := f.terms.find(term, o.key)
	if isNew {
		f.b.size += len(term) + 96
		if len(f.terms.text) > math.MaxUint32-maxTerm {
			f.b.fail(fault.New(fault.Limit, "the terms of the field %q have %d bytes", f.name, len(f.terms.text)))
		}
	}
	return n
}

// A chain holds the docs of a term: for each delta × 2 + 1 (delta of the first is doc + 1),
// then its position when the field has positions; then, where frequencies are kept, for
// each further occurrence in the doc delta × 2 of the position, or 0.

// put puts an occurrence into the chain of its term.
func (f *FieldBuilder) put(s *termState, n uint32, o *occurrence) {
	a, doc := &f.b.arena, f.b.doc
	if s.doc != doc {
		f.first(s, n, o)
		return
	}
	switch {
	case f.spec.Postings >= Positions:
		delta := uint32(0)
		if !o.again {
			delta, s.place = o.position-s.place, o.position
		}
		a.varint(&s.chain, uint64(delta)<<1)
	case f.spec.Postings == Frequencies:
		a.varint(&s.chain, 0)
	}
}

// first begins a doc of the n-th term.
func (f *FieldBuilder) first(s *termState, n uint32, o *occurrence) {
	a, doc := &f.b.arena, f.b.doc
	if f.spec.Postings != NoPostings {
		a.varint(&s.chain, uint64(doc-s.doc)<<1|1)
	}
	if f.spec.Postings >= Positions {
		a.varint(&s.chain, uint64(o.position))
		s.place = o.position
	}
	s.doc = doc
	if f.termDoc != doc+1 {
		f.termDoc = doc + 1
		f.termDocs++
	}
	if f.spec.Column == Ordinals {
		f.ordinals, f.ordDocs = append(f.ordinals, n), append(f.ordDocs, doc)
		f.b.size += 8
	}
}
