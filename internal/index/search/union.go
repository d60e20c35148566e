package search

import (
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// manyTerms is how many terms a union remembers. When there are more, it makes up its mind
// early, so that its memory does not grow with the terms of a field.
const manyTerms = 1024

// sparse is by how much docs of a segment must be more than those of a union for a list to
// take less than a bit set.
const sparse = 32

// docsPerTerm is how many docs of a column are read in the time in which the postings of one term are begun.
const docsPerTerm = 16

// union collects terms of a field, of which a doc must have any.
type union struct {
	r       *reader
	field   *segment.Field
	entries []segment.Entry // ascending; the first ones, up to manyTerms
	docs    int             // sum of theirs
	set     *segment.Bits   // what all of them find, when there are more
	ords    *segment.Bits   // or which they are
	last    uint32          // the greatest of ords
	reuse   *segment.PostingsIterator
}

func (u *union) add(e segment.Entry) {
	u.docs += int(e.Docs)
	switch {
	case u.ords != nil:
		u.ords.Set(e.Ord)
		u.last = e.Ord
	case u.set != nil:
		u.pour(e)
	default:
		u.entries = append(u.entries, e)
		if n := len(u.entries); n == manyTerms || n > 1 && u.scanned() { // the rest need not be remembered
			u.decide()
		}
	}
}

// bare reports whether the field has no postings.
func (u *union) bare() bool { return u.field.Spec().Postings == segment.NoPostings }

// byColumn reports whether the column is asked for each doc that the nodes around find: they
// are few.
func (u *union) byColumn() bool {
	docs := u.docs
	if u.bare() {
		docs = u.r.view.Docs()
	}
	return u.field.Ordinals() != nil && u.r.lead < docs/numbersPerCheck
}

// scanned reports whether the column is read as a whole: the terms are many for a segment of this
// size, or the field has no postings.
func (u *union) scanned() bool {
	return u.bare() || u.field.Ordinals() != nil && len(u.entries)*docsPerTerm > u.r.view.Docs()
}

// decide makes the set of the terms, for the column, or of their docs.
func (u *union) decide() {
	if u.byColumn() || u.scanned() {
		u.ords = segment.NewBits(u.field.Terms())
		for _, e := range u.entries {
			u.ords.Set(e.Ord)
			u.last = e.Ord
		}
		return
	}
	u.set = segment.NewBits(u.r.view.Docs())
	for _, e := range u.entries {
		u.pour(e)
	}
}

// pour puts the docs of a term into the set.
func (u *union) pour(e segment.Entry) {
	u.each(e, func(docs []segment.Doc) {
		for _, doc := range docs {
			u.set.Set(doc)
		}
	})
}

// each yields the docs of a term in parts.
func (u *union) each(e segment.Entry, yield func([]segment.Doc)) {
	u.reuse = u.field.Postings(e, segment.Docs, u.reuse)
	for docs, _ := u.reuse.Block(); len(docs) > 0; docs, _ = u.reuse.Block() {
		yield(docs)
	}
}

// node makes the node: of the postings, or of the column.
func (u *union) node() node {
	if len(u.entries) == 0 {
		return nil
	}
	if u.set == nil && u.ords == nil {
		switch {
		case u.bare(), u.byColumn() && len(u.entries) > 1:
		case len(u.entries) == 1:
			return newTerm(u.field, u.entries[0], nil, u.r.iterators.take())
		case u.docs < u.r.view.Docs()/sparse:
			var list []segment.Doc
			for _, e := range u.entries {
				u.each(e, func(docs []segment.Doc) { list = append(list, docs...) })
			}
			return newList(list)
		}
		u.decide()
	}
	if u.set != nil {
		return newSet(u.set)
	}
	column := u.field.Ordinals()
	switch {
	case column == nil:
		return nil
	case u.byColumn():
		return &ordinalsNode{node: newEvery(u.r.view.Docs()), column: column, first: u.entries[0].Ord, last: u.last, some: u.ords}
	}
	u.set = segment.NewBits(u.r.view.Docs())
	column.Having(u.ords, u.set)
	return newSet(u.set)
}

// ordinalsNode is every doc; those that match have an ordinal of a set.
type ordinalsNode struct {
	node
	column      *segment.OrdinalColumn
	first, last uint32        // the least and the greatest of them
	some        *segment.Bits // which
	all         []uint32
}

func (o *ordinalsNode) exact() bool { return false }

func (o *ordinalsNode) matches() bool {
	if o.column.Single() {
		ord, ok := o.column.First(o.doc())
		return ok && o.has(ord)
	}
	o.all = o.column.All(o.all[:0], o.doc())
	return slices.ContainsFunc(o.all, o.has)
}

func (o *ordinalsNode) has(ord uint32) bool {
	return o.first <= ord && ord <= o.last && o.some.Has(ord)
}

// terms finds any of some terms.
func (r *reader) terms(p *termsPlan) node {
	f := r.view.Field(p.field)
	if f == nil {
		return nil
	}
	u := union{r: r, field: f}
	f.LookupSorted(p.terms, u.add)
	return u.node()
}

// accepted finds the terms that an automaton accepts.
func (r *reader) accepted(p *wordsPlan) node {
	f := r.view.Field(p.field)
	if f == nil {
		return nil
	}
	u, seen := union{r: r, field: f}, 0
	eachAccepted(f, p.accept, func(_ []byte, e segment.Entry, _ int) bool {
		u.add(e)
		seen++
		return r.going(seen)
	})
	return u.node()
}

// lookup makes the node of one term, without scores.
func (r *reader) lookup(f *segment.Field, term []byte) node {
	u := union{r: r, field: f}
	if e, ok := f.Lookup(term); ok {
		u.add(e)
	}
	return u.node()
}
