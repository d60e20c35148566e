package segment

import "sync/atomic"

// Field is what a segment holds of one field.
type Field struct {
	name string
	spec Spec
	docs uint32 // of the segment

	src                 *source
	postings, positions *stream
	stats               Stats
	existing            *docSet
	dict                *dictionary
	lengthSet           *docSet
	lengthsAt           uint64
	lengths             atomic.Pointer[[]byte]
	numbers             *NumberColumn
	ordinals            *OrdinalColumn
	points              *PointIndex
}

// Name is under what it was built.
func (f *Field) Name() string { return f.name }

// Spec tells what there is.
func (f *Field) Spec() Spec { return f.spec }

// Stats are counts over all docs.
func (f *Field) Stats() Stats { return f.stats }

// Existing are the docs that have the field; nil: all of them. They belong to the segment
// and must not be changed: they may lie in a mapped file.
func (f *Field) Existing() *Bits { return f.existing.bits() }

// Lengths are the rounded lengths, one byte for each doc, 0 where the doc has no term;
// nil when there are none. See [Length] for their meaning. They belong to the segment.
func (f *Field) Lengths() []byte {
	if !f.spec.Lengths {
		return nil
	}
	if l := f.lengths.Load(); l != nil {
		return *l
	}
	l := f.src.bytes(f.lengthsAt, uint64(f.lengthSet.count))
	if f.lengthSet.kind != setAll {
		sparse := l
		l = make([]byte, f.docs)
		if set := f.lengthSet.bits(); len(sparse) > 0 {
			for doc := set.Next(0); doc != End && len(sparse) > 0; doc = set.Next(doc + 1) {
				l[doc], sparse = sparse[0], sparse[1:]
			}
		}
	}
	f.lengths.Store(&l)
	return l
}

// Entry is a term of the dictionary.
type Entry struct {
	Ord         uint32 // its rank among the terms of the field
	Docs        uint32 // that have it; 0 in a field without postings
	Frequencies uint64 // how often in all; Docs in a field without frequencies
	at          uint64 // where its postings are; the doc when it is one
	size        uint64 // of the postings in bytes
	where       uint64 // its positions are
	extent      uint64 // of the positions in bytes
}

// Terms is how many terms there are. Ordinals are below it.
func (f *Field) Terms() int { return int(f.dict.terms) }

// Lookup finds a term.
func (f *Field) Lookup(term []byte) (Entry, bool) { return f.dict.lookup(term) }

// Term appends the term of an ordinal, which is below Terms, to dst.
func (f *Field) Term(dst []byte, ord uint32) []byte { return f.dict.term(dst, ord) }

// From gives the terms from a given one on, in the order of bytes.
func (f *Field) From(term []byte) *Terms {
	t := &Terms{dict: f.dict, i: -1}
	t.seek(term)
	return t
}

// Postings gives the docs of a term; with no more than Docs, or Frequencies, the rest is
// not read. Reuse may be an iterator that is no longer needed, or nil.
func (f *Field) Postings(e Entry, with Postings, reuse *PostingsIterator) *PostingsIterator {
	if reuse == nil {
		reuse = new(PostingsIterator)
	}
	reuse.start(f, e, min(with, f.spec.Postings))
	return reuse
}

// Numbers is the column of numbers; nil when the field has none.
func (f *Field) Numbers() *NumberColumn { return f.numbers }

// Ordinals is the column of ordinals; nil when the field has none.
func (f *Field) Ordinals() *OrdinalColumn { return f.ordinals }

// Points are the numbers in order; nil when the field has none.
func (f *Field) Points() *PointIndex { return f.points }
