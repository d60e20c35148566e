package fields

import (
	"bytes"
	"time"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Value is a scalar of a query.
type Value struct {
	Kind token.Kind // String, Integer, Float, True, False or Null
	Text string     // of a string, unescaped; the literal of others
}

// String is the value as the server prints it: numbers in the form of Java.
func (v Value) String() string { return mapping.AskedText(v.Kind, v.Text) }

// Match is which docs a value means. One of None, All, Terms and Numbers is true.
type Match struct {
	None, All      bool // no doc; every doc
	Terms, Numbers bool // those with a term, or a number, from the least to the greatest, both included

	LeastTerm, GreatestTerm []byte // GreatestTerm nil: no end
	Least, Greatest         int64
	Where                   func(term []byte) bool // which of the terms; nil: all of them
}

var none = Match{None: true}

// one is the match of a term.
func one(term []byte) Match {
	if term == nil {
		term = []byte{}
	}
	return Match{Terms: true, LeastTerm: term, GreatestTerm: term}
}

// numbers is the match of a range of numbers.
func numbers(least, greatest int64) Match {
	if least > greatest {
		return none
	}
	return Match{Numbers: true, Least: least, Greatest: greatest}
}

// Bound is one end of a range.
type Bound struct {
	Value   Value
	Include bool
}

// Asked is a range as a query asks for it.
type Asked struct {
	From, To *Bound // nil: no end
	Format   string // of dates, instead of the field's; "": the field's
	Zone     *time.Location
	Relation string // of fields that hold ranges: "intersects", "contains", "within"; "": intersects
}

// Exact is what equals a value. Now is the time, in milliseconds, that date math means.
// A text field's is the value itself as a term, not analyzed. FoldCase asks for equality
// without case, which is not a Match: see package search.
//
// Errors are *exception.Error. One whose type is not exception.QueryShard is what the
// server tells as the cause of its query_shard_exception "failed to create query: …".
func (f *Field) Exact(v Value, now int64) (Match, error) {
	if err := f.searchable(); err != nil {
		return none, err
	}
	return f.row.exact(f, v, now)
}

// Range is what lies in a range: of terms for kinds with terms, else of numbers. Errors
// are as those of Exact. A range without any end is what exists: the caller's to ask.
func (f *Field) Range(a Asked, now int64) (Match, error) {
	if err := f.searchable(); err != nil {
		return none, err
	}
	return f.row.within(f, a, now)
}

// searchable refuses fields of which nothing is kept that can be searched.
func (f *Field) searchable() error {
	switch {
	case f.spec.Postings != segment.NoPostings, f.spec.Points, f.row.kind == Opaque, f.row.name == "constant_keyword", f.def == nil:
		return nil
	case f.row.kind == Text, f.row.kind == Interval:
		return exception.New(exception.IllegalArgument, "Cannot search on field [%s] since it is not indexed.", f.path)
	case f.spec.Column == segment.NoColumn:
		return exception.New(exception.IllegalArgument,
			"Cannot search on field [%s] since it is both not indexed, and does not have doc_values enabled.", f.path)
	}
	return nil
}

// refuse tells that the type has no such queries.
func (f *Field) refuse(queries string) error {
	return exception.New(exception.IllegalArgument, "Field [%s] of type [%s] does not support %s", f.path, f.row.name, queries)
}

// Exists is which docs have the field: with a zero Match those that Existing of the
// segment's field of that name tells, else those that the Match finds in it.
func (f *Field) Exists() (name string, m Match, err error) {
	switch {
	case f.def != nil && f.under != "": // the last keys are known alone, as in the server
		keys := f.under[len(f.def.Path())+1:]
		return f.def.Path(), one([]byte(keys)), nil
	case f.row.flat:
		return f.path, Match{}, nil
	case f.row.name == "constant_keyword", f.row.name == "_index", f.row.name == "_version":
		return f.name, Match{All: true}, nil
	case f.row.name == "_source":
		return f.name, none, exception.New(exception.QueryShard, "The _source field is not searchable")
	case f.row.name == "_field_names":
		return f.name, none, exception.New(exception.UnsupportedOperation, "Cannot run exists query on _field_names")
	case f.row.name == "_nested_path":
		return f.name, none, exception.New(exception.UnsupportedOperation, "Cannot run exists() query against the nested field path")
	}
	return f.name, Match{}, nil
}

// Column are the docs that a match of terms or numbers means, found by the column of a
// segment's field: for fields that have no postings or points. It looks at every doc,
// and knows of no mask.
func (m Match) Column(in *segment.Field, docs int) *segment.Bits {
	found := segment.NewBits(docs)
	switch {
	case m.Numbers && in.Numbers() != nil:
		m.numberColumn(in.Numbers(), found)
	case m.Terms && in.Ordinals() != nil:
		m.ordinalColumn(in, found)
	}
	return found
}

func (m Match) numberColumn(column *segment.NumberColumn, found *segment.Bits) {
	var values []int64
	for doc := segment.Doc(0); int(doc) < found.Len(); doc++ {
		values = column.All(values[:0], doc)
		for _, n := range values {
			if n >= m.Least && n <= m.Greatest {
				found.Set(doc)
				break
			}
		}
	}
}

func (m Match) ordinalColumn(in *segment.Field, found *segment.Bits) {
	wanted := segment.NewBits(in.Terms())
	any := false
	for t := in.From(m.LeastTerm); t.Valid(); t.Next() {
		if m.GreatestTerm != nil && bytes.Compare(t.Term(), m.GreatestTerm) > 0 {
			break
		}
		if m.Where == nil || m.Where(t.Term()) {
			wanted.Set(t.Entry().Ord)
			any = true
		}
	}
	if !any {
		return
	}
	var ords []uint32
	for doc := segment.Doc(0); int(doc) < found.Len(); doc++ {
		ords = in.Ordinals().All(ords[:0], doc)
		for _, ord := range ords {
			if wanted.Has(ord) {
				found.Set(doc)
				break
			}
		}
	}
}
