package fields

import (
	"time"

	"github.com/reshelve/reshelve/analysis"
	"github.com/reshelve/reshelve/mapping"
	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/token"
)

// Schema is what is known of the fields of one index at one time. Immutable, safe for
// concurrent use.
type Schema struct {
	mapping  *mapping.Mapping
	analysis *analysis.Analysis
}

// New joins a mapping with the analyzers of its index.
func New(m *mapping.Mapping, a *analysis.Analysis) *Schema { return &Schema{mapping: m, analysis: a} }

// Mapping is what it was made of.
func (s *Schema) Mapping() *mapping.Mapping { return s.mapping }

// Analysis is what it was made of.
func (s *Schema) Analysis() *analysis.Analysis { return s.analysis }

// Field finds a leaf by its path; an alias gives the field that it stands for. The
// server's own fields that can be searched (_id, _routing, _index, _field_names …) are
// fields too.
func (s *Schema) Field(path string) (*Field, bool) { panic("fields: not built yet") }

// Matching are the leaves whose paths meet a pattern with *, by path; those of objects
// and the server's own are not among them.
func (s *Schema) Matching(pattern string) []*Field { panic("fields: not built yet") }

// Nested finds a nested field by its path.
func (s *Schema) Nested(path string) (*mapping.Field, bool) { panic("fields: not built yet") }

// NestedAround is the path of the innermost nested field that a path lies in; "" for
// those of the document.
func (s *Schema) NestedAround(path string) string { panic("fields: not built yet") }

// Field is a leaf as queries see it. Immutable, safe for concurrent use.
type Field struct{}

// Name is the path of the field, which is its name in segments.
func (f *Field) Name() string { panic("fields: not built yet") }

// Type is the name of its type: "text", "keyword", ….
func (f *Field) Type() string { panic("fields: not built yet") }

// Kind says what a segment holds of the field, and so what queries can do.
func (f *Field) Kind() Kind { panic("fields: not built yet") }

// Spec is what a segment holds of the field.
func (f *Field) Spec() segment.Spec { panic("fields: not built yet") }

// Kind is what values of a field are to queries.
type Kind uint8

// The kinds of fields.
const (
	Text     Kind = iota // terms of an analyzer, with positions
	Keyword              // terms: keyword, wildcard, constant_keyword, flat_object, _id …
	Address              // terms of 16 bytes: ip
	Truth                // terms "T" and "F", numbers 0 and 1
	Integer              // numbers: byte … long, scaled_float by its factor, unsigned_long
	Real                 // numbers by the bits of a float64: half_float, float, double
	Date                 // numbers: milliseconds; date_nanos: nanoseconds
	GeoPoint             // numbers: latitude and longitude in 32 bits each
	Interval             // numbers of two columns: the ranges
	Opaque               // only whether it exists: binary
)

// Value is a scalar of a query.
type Value struct {
	Kind token.Kind // String, Integer, Float, True, False or Null
	Text string     // of a string, unescaped; the literal of others
}

// Match is which docs a value means: those with a term from LeastTerm to GreatestTerm,
// or with a number from Least to Greatest, all included. One of Terms, Numbers and None
// is true.
type Match struct {
	None, Terms, Numbers    bool
	LeastTerm, GreatestTerm []byte // GreatestTerm nil: no end
	Least, Greatest         int64
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
func (f *Field) Exact(v Value, now int64) (Match, error) { panic("fields: not built yet") }

// Range is what lies in a range: of terms for kinds with terms, else of numbers.
func (f *Field) Range(a Asked, now int64) (Match, error) { panic("fields: not built yet") }

// SearchAnalyzer is what takes texts of queries apart; quoted ones, if asked. For fields
// that are not text it is one that leaves the text whole, or the normalizer.
func (f *Field) SearchAnalyzer(quoted bool) analysis.Analyzer { panic("fields: not built yet") }

// AppendNumber appends the JSON of a number of the field's column, as docvalue_fields and
// keys of buckets show it: with the format that is given, or the field's own.
func (f *Field) AppendNumber(dst []byte, n int64, format string, zone *time.Location) ([]byte, error) {
	panic("fields: not built yet")
}

// AppendTerm appends the JSON of a term of the field's column.
func (f *Field) AppendTerm(dst, term []byte) []byte { panic("fields: not built yet") }

// Float is the value of a number of the field's column as metrics compute with it.
func (f *Field) Float(n int64) float64 { panic("fields: not built yet") }

// Number is the opposite of Float, rounded down.
func (f *Field) Number(v float64) int64 { panic("fields: not built yet") }

// Writer puts documents into a segment. Not safe for concurrent use.
type Writer struct{}

// NewWriter writes into b. The schema may be replaced by a grown one.
func NewWriter(b *segment.Builder) *Writer { panic("fields: not built yet") }

// Add writes one document with its nested children. A source that cannot be read, which
// a write would have refused, is written with its identity alone: the error tells why,
// and the document is there.
func (w *Writer) Add(s *Schema, id segment.Identity, routing string, source []byte) error {
	panic("fields: not built yet")
}
