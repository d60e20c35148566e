package fields

import (
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
)

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
	GeoPoint             // numbers: latitude and longitude in 32 bits each, see Point
	Interval             // terms: both ends, 8 or 16 bytes each: the ranges
	Opaque               // whether it exists, and its bytes in the column: binary
)

// row is what is known of a type.
type row struct {
	name   string
	kind   Kind
	scored bool // an exact term is scored by BM25
	flat   bool
	spec   func(f *mapping.Field) segment.Spec
	put    func(c *column, v *mapping.Value) // a value of a document
	exact  func(f *Field, v Value, now int64) (Match, error)
	within func(f *Field, a Asked, now int64) (Match, error)
}

// rows is the table of types: what a segment holds of a value, and what a value of a
// query means.
var rows = map[string]*row{}

func init() {
	for _, r := range []row{
		{name: "text", kind: Text, scored: true, spec: textSpec, put: putText, exact: exactText, within: termsWithin},
		{name: "match_only_text", kind: Text, spec: textSpec, put: putText, exact: exactText, within: termsWithin},

		{name: "keyword", kind: Keyword, scored: true, spec: keywordSpec, put: putKeyword, exact: exactKeyword, within: termsWithin},
		{name: "wildcard", kind: Keyword, spec: keywordSpec, put: putKeyword, exact: exactKeyword, within: nothingWithin},
		{name: "constant_keyword", kind: Keyword, spec: nothingSpec, exact: exactConstant, within: constantWithin},
		{name: "flat_object", kind: Keyword, scored: true, flat: true, spec: flatSpec, put: putFlat, exact: exactFlat, within: flatWithin},
		{name: "boolean", kind: Truth, scored: true, spec: truthSpec, put: putTruth, exact: exactTruth, within: truthWithin},
		{name: "ip", kind: Address, spec: termSpec, put: putAddress, exact: exactAddress, within: addressesWithin},

		{name: "byte", kind: Integer, spec: numberSpec, put: putInteger, exact: exactWhole, within: wholesWithin},
		{name: "short", kind: Integer, spec: numberSpec, put: putInteger, exact: exactWhole, within: wholesWithin},
		{name: "integer", kind: Integer, spec: numberSpec, put: putInteger, exact: exactWhole, within: wholesWithin},
		{name: "long", kind: Integer, spec: numberSpec, put: putInteger, exact: exactWhole, within: wholesWithin},
		{name: "unsigned_long", kind: Integer, spec: numberSpec, put: putUnsigned, exact: exactWhole, within: wholesWithin},
		{name: "scaled_float", kind: Integer, spec: numberSpec, put: putScaled, exact: exactScaled, within: scaledWithin},
		{name: "half_float", kind: Real, spec: numberSpec, put: putReal, exact: exactReal, within: realsWithin},
		{name: "float", kind: Real, spec: numberSpec, put: putReal, exact: exactReal, within: realsWithin},
		{name: "double", kind: Real, spec: numberSpec, put: putReal, exact: exactReal, within: realsWithin},
		{name: "date", kind: Date, spec: numberSpec, put: putInteger, exact: exactDate, within: datesWithin},
		{name: "date_nanos", kind: Date, spec: numberSpec, put: putInteger, exact: exactDate, within: datesWithin},
		{name: "geo_point", kind: GeoPoint, spec: numberSpec, put: putPoint, exact: noExactPoint, within: noPointsWithin},

		{name: "integer_range", kind: Interval, spec: termSpec, put: putWholes, exact: exactInterval, within: intervals},
		{name: "long_range", kind: Interval, spec: termSpec, put: putWholes, exact: exactInterval, within: intervals},
		{name: "float_range", kind: Interval, spec: termSpec, put: putReals, exact: exactInterval, within: intervals},
		{name: "double_range", kind: Interval, spec: termSpec, put: putReals, exact: exactInterval, within: intervals},
		{name: "date_range", kind: Interval, spec: termSpec, put: putWholes, exact: exactInterval, within: intervals},
		{name: "ip_range", kind: Interval, spec: termSpec, put: putAddresses, exact: exactInterval, within: intervals},

		{name: "binary", kind: Opaque, spec: termSpec, put: putKeyword, exact: noExactBinary, within: noneWithin},
	} {
		rows[r.name] = &r
	}
}

// nothingSpec is of fields of which a segment knows at most that they are there.
func nothingSpec(*mapping.Field) segment.Spec { return segment.Spec{} }

// numberSpec: index means points.
func numberSpec(f *mapping.Field) (s segment.Spec) {
	s.Points = f.Indexed()
	if f.DocValues() {
		s.Column = segment.Numbers
	}
	return s
}

// termSpec: index means postings.
func termSpec(f *mapping.Field) (s segment.Spec) {
	if f.Indexed() {
		s.Postings = segment.Docs
	}
	if f.DocValues() {
		s.Column = segment.Ordinals
	}
	return s
}

// truthSpec: terms are scored, numbers are counted.
func truthSpec(f *mapping.Field) (s segment.Spec) {
	if f.Indexed() {
		s.Postings = segment.Docs
	}
	if f.DocValues() {
		s.Column = segment.Numbers
	}
	return s
}

// keywordSpec is termSpec with what keyword alone can have; wildcard has no index
// parameter and is always indexed.
func keywordSpec(f *mapping.Field) segment.Spec {
	s := termSpec(f)
	if f.Type() == "wildcard" {
		s.Postings = segment.Docs
	}
	if s.Postings == segment.Docs && f.Text("index_options") == "freqs" {
		s.Postings = segment.Frequencies
	}
	s.Lengths = s.Postings != segment.NoPostings && f.On("norms")
	return s
}

// textSpec follows index_options. Phrases of match_only_text are checked by the server
// in the source; here they have positions.
func textSpec(f *mapping.Field) (s segment.Spec) {
	if !f.Indexed() {
		return s
	}
	s.Postings, s.Lengths = segment.Positions, f.On("norms")
	if f.Type() == "match_only_text" {
		s.Lengths = false
	} else {
		switch f.Text("index_options") {
		case "docs":
			s.Postings = segment.Docs
		case "freqs":
			s.Postings = segment.Frequencies
		}
	}
	if f.On("fielddata") {
		s.Column = segment.Ordinals
	}
	return s
}
