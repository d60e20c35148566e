package segment

// Field is what a segment holds of one field.
type Field struct{}

// Name is under what it was built.
func (f *Field) Name() string { panic("segment: not built yet") }

// Spec tells what there is.
func (f *Field) Spec() Spec { panic("segment: not built yet") }

// Stats are counts over all docs.
func (f *Field) Stats() Stats { panic("segment: not built yet") }

// Existing are the docs that have the field; nil: all of them.
func (f *Field) Existing() *Bits { panic("segment: not built yet") }

// Lengths are the rounded lengths, one byte for each doc, 0 where the doc has no term;
// nil when there are none. See [Length] for their meaning. They belong to the segment.
func (f *Field) Lengths() []byte { panic("segment: not built yet") }

// Entry is a term of the dictionary.
type Entry struct {
	Ord         uint32 // its rank among the terms of the field
	Docs        uint32 // that have it
	Frequencies uint64 // how often in all
	at          uint64 // where its postings are
}

// Terms is how many terms there are. Ordinals are below it.
func (f *Field) Terms() int { panic("segment: not built yet") }

// Lookup finds a term.
func (f *Field) Lookup(term []byte) (Entry, bool) { panic("segment: not built yet") }

// Term appends the term of an ordinal, which is below Terms, to dst.
func (f *Field) Term(dst []byte, ord uint32) []byte { panic("segment: not built yet") }

// From gives the terms from a given one on, in the order of bytes.
func (f *Field) From(term []byte) *Terms { panic("segment: not built yet") }

// Postings gives the docs of a term; with no more than Docs, or Frequencies, the rest is
// not read. Reuse may be an iterator that is no longer needed, or nil.
func (f *Field) Postings(e Entry, with Postings, reuse *PostingsIterator) *PostingsIterator {
	panic("segment: not built yet")
}

// Numbers is the column of numbers; nil when the field has none.
func (f *Field) Numbers() *NumberColumn { panic("segment: not built yet") }

// Ordinals is the column of ordinals; nil when the field has none.
func (f *Field) Ordinals() *OrdinalColumn { panic("segment: not built yet") }

// Points are the numbers in order; nil when the field has none.
func (f *Field) Points() *PointIndex { panic("segment: not built yet") }

// Terms steps through a dictionary: for t := f.From(x); t.Valid(); t.Next().
type Terms struct{}

// Valid is false behind the last term.
func (t *Terms) Valid() bool { panic("segment: not built yet") }

// Next goes to the next term.
func (t *Terms) Next() { panic("segment: not built yet") }

// Seek goes to the first term that is not before the given one; forwards only.
func (t *Terms) Seek(term []byte) { panic("segment: not built yet") }

// Term is the current one, until the next step.
func (t *Terms) Term() []byte { panic("segment: not built yet") }

// Entry is the current one's.
func (t *Terms) Entry() Entry { panic("segment: not built yet") }
