package aggregate

import (
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// block is how many docs are collected at once.
const block = 512

// numbers reads the numbers of one field, block by block. What it gives is valid until
// the next call.
type numbers struct {
	*values
	here   *fields.Field // in the index of the view; nil: not known
	column *segment.NumberColumn
	view   segment.View
	seqNo  bool
	nanos  bool

	singles[int64]
	at []int32 // of which doc
	n  []int64
	f  []float64
}

// begin turns to a view.
func (r *numbers) begin(at search.Place) {
	r.here, r.column, r.view, r.seqNo = r.fields[at.Index], nil, at.View, false
	if r.here == nil {
		return
	}
	r.seqNo, r.nanos = r.here.Type() == "_seq_no", r.here.Type() == "date_nanos"
	if f := at.View.Field(r.here.Name()); f != nil {
		r.column = f.Numbers()
	}
}

// raw finds the numbers of the docs as the column has them: n[i] is of docs[at[i]]. Where
// at[i] is negative, it is what stands for a missing value of docs[^at[i]].
func (r *numbers) raw(docs []segment.Doc) {
	r.at, r.n = r.at[:0], r.n[:0]
	switch {
	case r.seqNo:
		for i, doc := range docs {
			r.at, r.n = append(r.at, int32(i)), append(r.n, r.view.SeqNo(doc))
		}
	case r.column == nil:
		r.absent(len(docs))
	case r.column.Single():
		r.at, r.n = r.read(r.column, docs, r.at, r.n, r.missing, 0, -1)
	default:
		r.several(docs)
	}
}

func (r *numbers) absent(docs int) {
	if !r.missing {
		return
	}
	for i := range docs {
		r.at, r.n = append(r.at, ^int32(i)), append(r.n, 0)
	}
}

// singles reads columns in which a doc has one value at most.
type singles[T any] struct {
	found []T
	has   []bool
}

// read appends the values of the docs, and of which doc each is. Docs without one have
// absent when it is wanted, and their number by mark: all bits of -1 turn it over.
func (s *singles[T]) read(column interface {
	Read(docs []segment.Doc, values []T, has []bool)
}, docs []segment.Doc, at []int32, values []T, wanted bool, absent T, mark int32) ([]int32, []T) {
	if cap(s.found) < len(docs) {
		s.found, s.has = make([]T, max(block, len(docs))), make([]bool, max(block, len(docs)))
	}
	found, has := s.found[:len(docs)], s.has[:len(docs)]
	column.Read(docs, found, has)
	for i, v := range found {
		if has[i] {
			at, values = append(at, int32(i)), append(values, v)
		} else if wanted {
			at, values = append(at, int32(i)^mark), append(values, absent)
		}
	}
	return at, values
}

func (r *numbers) several(docs []segment.Doc) {
	for i, doc := range docs {
		before := len(r.n)
		r.n = r.column.All(r.n, doc)
		if len(r.n) == before && r.missing {
			r.at, r.n = append(r.at, ^int32(i)), append(r.n, 0)
			continue
		}
		for range r.n[before:] {
			r.at = append(r.at, int32(i))
		}
	}
}

// reals finds the numbers of the docs: f[i] is of docs[at[i]]. Those of a doc ascend.
func (r *numbers) reals(docs []segment.Doc) (at []int32, f []float64) {
	r.raw(docs)
	r.f = r.f[:0]
	identical := r.here != nil && (r.here.Kind() == fields.Truth || r.here.Kind() == fields.Date && !r.nanos ||
		r.here.Kind() == fields.Integer && r.here.Type() != "scaled_float" && r.here.Type() != "unsigned_long")
	for i, n := range r.n {
		switch {
		case r.at[i] < 0:
			r.at[i] = ^r.at[i]
			r.f = append(r.f, r.missingReal)
		case identical:
			r.f = append(r.f, float64(n))
		default:
			r.f = append(r.f, r.here.Float(n))
		}
	}
	return r.at, r.f
}

// wholes finds the numbers of the docs, which are of the class wholes or counts.
func (r *numbers) wholes(docs []segment.Doc) (at []int32, n []int64) {
	r.raw(docs)
	for i := range r.n {
		switch {
		case r.at[i] < 0:
			r.at[i], r.n[i] = ^r.at[i], r.missingWhole
		case r.nanos:
			r.n[i] = floorDiv(r.n[i], 1_000_000)
		}
	}
	return r.at, r.n
}

// floorDiv divides and rounds down.
func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by != 0 && (n < 0) != (by < 0) {
		q--
	}
	return q
}

// terms reads the ordinals of one field, block by block.
type terms struct {
	*values
	here   *fields.Field
	column *segment.OrdinalColumn
	field  *segment.Field // the dictionary
	view   segment.View

	constant []byte // the only term of the index, of fields that have one

	key lexiconKey
	lex *lexicon // of that key; nil: there is none

	singles[uint32]
	at   []int32
	ords []uint32
}

// absentTerm is the ordinal of what stands for a missing value, and of the terms of
// fields that are in no column: see text.
const absentTerm = ^uint32(0)

// begin turns to a view, and says how many ordinals there are.
func (r *terms) begin(at search.Place) int {
	r.here, r.column, r.field, r.view = r.fields[at.Index], nil, nil, at.View
	if r.here == nil {
		return 0
	}
	switch index := at.Context.Index(at.Index); r.here.Type() {
	case "_index":
		r.constant = []byte(index.Name)
	case "constant_keyword":
		if def, ok := index.Schema.Mapping().Field(r.here.Name()); ok {
			r.constant = []byte(def.Text("value"))
		}
	}
	if r.field = at.View.Field(r.here.Name()); r.field == nil {
		return 0
	}
	if r.column = r.field.Ordinals(); r.column == nil {
		return 0
	}
	return r.field.Terms()
}

// spelled reports whether the terms of the view are not in a column: each gives one term
// of a doc.
func (r *terms) spelled() func(doc segment.Doc) []byte {
	if r.here == nil {
		return nil
	}
	switch r.here.Type() {
	case "_id":
		return func(doc segment.Doc) []byte { return []byte(r.view.ID(doc)) }
	case "_index", "constant_keyword":
		return func(segment.Doc) []byte { return r.constant }
	}
	return nil
}

// read finds the ordinals of the docs: ords[i] is of docs[at[i]]. Those of a doc ascend.
func (r *terms) read(docs []segment.Doc) (at []int32, ords []uint32) {
	r.at, r.ords = r.at[:0], r.ords[:0]
	switch {
	case r.column == nil:
		if r.missing {
			for i := range docs {
				r.at, r.ords = append(r.at, int32(i)), append(r.ords, absentTerm)
			}
		}
	case r.column.Single():
		r.at, r.ords = r.singles.read(r.column, docs, r.at, r.ords, r.missing, absentTerm, 0)
	default:
		r.several(docs)
	}
	return r.at, r.ords
}

func (r *terms) several(docs []segment.Doc) {
	for i, doc := range docs {
		before := len(r.ords)
		r.ords = r.column.All(r.ords, doc)
		if len(r.ords) == before && r.missing {
			r.ords = append(r.ords, absentTerm)
		}
		for range r.ords[before:] {
			r.at = append(r.at, int32(i))
		}
	}
}

// text appends the term of an ordinal.
func (r *terms) text(dst []byte, ord uint32) []byte {
	if ord == absentTerm {
		return append(dst, r.missingText...)
	}
	return r.field.Term(dst, ord)
}
