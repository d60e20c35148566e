package search

import (
	"slices"

	"github.com/reshelve/reshelve/segment"
)

// union collects terms of a field, of which a doc must have any.
type union struct {
	r       *reader
	field   *segment.Field
	entries []segment.Entry // ascending
	docs    int             // sum of theirs
}

func (u *union) add(e segment.Entry) {
	u.entries = append(u.entries, e)
	u.docs += int(e.Docs)
}

// sparse is by how much docs of a segment must be more than those of a union for a list to
// take less than a bit set.
const sparse = 32

// node makes the node: of the postings, or by the column where the field has no postings,
// or the nodes around find few.
func (u *union) node() node {
	if len(u.entries) == 0 {
		return nil
	}
	f, column := u.field, u.field.Ordinals()
	if f.Spec().Postings == segment.NoPostings {
		if column == nil {
			return nil
		}
		return u.byColumn(column)
	}
	switch {
	case len(u.entries) == 1:
		return newTerm(f, u.entries[0], nil)
	case column != nil && u.r.lead < u.docs/numbersPerCheck:
		return u.byColumn(column)
	case u.docs < u.r.view.Docs()/sparse:
		var list []segment.Doc
		u.each(func(docs []segment.Doc) { list = append(list, docs...) })
		return newList(list)
	}
	set := segment.NewBits(u.r.view.Docs())
	u.each(func(docs []segment.Doc) {
		for _, doc := range docs {
			set.Set(doc)
		}
	})
	return newSet(set)
}

// each yields the docs of each term in parts.
func (u *union) each(yield func([]segment.Doc)) {
	var p *segment.PostingsIterator
	for _, e := range u.entries {
		p = u.field.Postings(e, segment.Docs, p)
		for docs, _ := p.Block(); len(docs) > 0; docs, _ = p.Block() {
			yield(docs)
		}
	}
}

// ordinalsNode is every doc; those that match have an ordinal of a set.
type ordinalsNode struct {
	node
	column      *segment.OrdinalColumn
	first, last uint32        // the least and the greatest of them
	some        *segment.Bits // which; nil: all between
	all         []uint32
}

func (u *union) byColumn(column *segment.OrdinalColumn) node {
	o := &ordinalsNode{node: newEvery(u.r.view.Docs()), column: column}
	o.first, o.last = u.entries[0].Ord, u.entries[len(u.entries)-1].Ord
	if int(o.last-o.first)+1 > len(u.entries) {
		o.some = segment.NewBits(u.field.Terms())
		for _, e := range u.entries {
			o.some.Set(e.Ord)
		}
	}
	return o
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
	return o.first <= ord && ord <= o.last && (o.some == nil || o.some.Has(ord))
}

// terms finds any of some terms.
func (r *reader) terms(p *termsPlan) node {
	f := r.view.Field(p.field)
	if f == nil {
		return nil
	}
	u := union{r: r, field: f}
	for _, term := range p.terms {
		if e, ok := f.Lookup(term); ok {
			u.add(e)
		}
	}
	return u.node()
}

// accepted finds the terms that an automaton accepts.
func (r *reader) accepted(p *wordsPlan) node {
	f := r.view.Field(p.field)
	if f == nil {
		return nil
	}
	u := union{r: r, field: f}
	eachAccepted(f, p.accept, func(_ []byte, e segment.Entry, _ int) bool {
		u.add(e)
		return r.going(len(u.entries))
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
