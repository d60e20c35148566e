package search

import (
	"time"

	"github.com/reshelve/reshelve/internal/index/fields"
)

// Query is a node of the tree of a search. Nodes are immutable once made. Boost
// multiplies scores (1 is none); Name is what matched_queries tells.
type Query interface{ common() *Common }

// Common is what every query has.
type Common struct {
	Boost float32
	Name  string
}

func (c *Common) common() *Common { return c }

// MatchAll finds every document, MatchNone none.
type (
	MatchAll  struct{ Common }
	MatchNone struct{ Common }
)

// Bool combines queries. MinimumShould is the text of minimum_should_match, "" when it
// is not set.
type Bool struct {
	Common
	Must, Filter, Should, MustNot []Query
	MinimumShould                 string
	AdjustPureNegative            bool // default true
}

// ConstantScore gives what a filter finds its boost as score.
type ConstantScore struct {
	Common
	Filter Query
}

// DisjunctionMax gives the best score of its queries, and TieBreaker of the others'.
type DisjunctionMax struct {
	Common
	Queries    []Query
	TieBreaker float32
}

// Boosting lowers what Negative finds too.
type Boosting struct {
	Common
	Positive, Negative Query
	NegativeBoost      float32
}

// Term finds a value, not analyzed.
type Term struct {
	Common
	Field    string
	Value    fields.Value
	FoldCase bool
}

// Terms finds any of some values, each with the same score.
type Terms struct {
	Common
	Field  string
	Values []fields.Value
}

// IDs finds documents by their ids.
type IDs struct {
	Common
	Values []string
}

// Range finds what lies in a range.
type Range struct {
	Common
	Field string
	Asked fields.Asked
}

// Exists finds documents that have a field, or one of an object's.
type Exists struct {
	Common
	Field string
}

// Prefix, Wildcard and Regexp find terms by their form. Rewrite is the text of rewrite.
type (
	Prefix struct {
		Common
		Field, Value string
		FoldCase     bool
		Rewrite      string
	}
	Wildcard struct {
		Common
		Field, Value string
		FoldCase     bool
		Rewrite      string
	}
	Regexp struct {
		Common
		Field, Value string
		FoldCase     bool
		Flags        string // names between |; "": ALL
		MaxStates    int    // max_determinized_states; 0: 10000
		Rewrite      string
	}
)

// Fuzziness says how far terms may be from a text.
type Fuzziness struct {
	Set         bool
	Auto        bool
	Low, High   int // of AUTO:low,high; 3 and 6
	Edits       int // not Auto
	Prefix      int // prefix_length
	Expansions  int // max_expansions; 0: 50
	Transposing bool
}

// Fuzzy finds terms that are like a value.
type Fuzzy struct {
	Common
	Field     string
	Value     fields.Value
	Fuzziness Fuzziness
	Rewrite   string
}

// Match analyzes a text and finds its terms.
type Match struct {
	Common
	Field         string
	Text          fields.Value
	And           bool // operator
	MinimumShould string
	Analyzer      string // "": the field's
	Fuzziness     Fuzziness
	FuzzyRewrite  string
	Lenient       bool
	ZeroTermsAll  bool // zero_terms_query: all
	NoSynonyms    bool // auto_generate_synonyms_phrase_query: false
	BoolPrefix    bool // match_bool_prefix: the last term is a prefix
}

// MatchPhrase finds the terms of a text in their order. With Prefix the last one is the
// beginning of a term.
type MatchPhrase struct {
	Common
	Field        string
	Text         fields.Value
	Slop         int
	Analyzer     string
	ZeroTermsAll bool
	Prefix       bool
	Expansions   int // max_expansions; 0: 50
}

// FieldBoost is a field, or a pattern of fields, with a boost of its own.
type FieldBoost struct {
	Field string
	Boost float32
}

// MultiMatch is a match in several fields.
type MultiMatch struct {
	Common
	Fields     []FieldBoost // empty: index.query.default_field
	Type       string       // best_fields, most_fields, cross_fields, phrase, phrase_prefix, bool_prefix; "": best_fields
	TieBreaker *float32
	Match      Match // all but the field
	Slop       int
	Expansions int
}

// QueryString is a query in the syntax of query_string.
type QueryString struct {
	Common
	Query                   string
	DefaultField            string // "": index.query.default_field
	Fields                  []FieldBoost
	Type                    string
	TieBreaker              *float32
	And                     bool // default_operator
	Analyzer, QuoteAnalyzer string
	QuoteSuffix             string
	AllowLeadingWildcard    bool // default true
	AnalyzeWildcard         bool
	Fuzziness               Fuzziness // of ~ without a number
	FuzzyRewrite, Rewrite   string
	PhraseSlop              int
	MinimumShould           string
	Lenient                 *bool
	Zone                    *time.Location
	Escape                  bool
	MaxStates               int
	NoPositions, NoSynonyms bool // enable_position_increments: false
}

// SimpleQueryString is a query in the syntax of simple_query_string.
type SimpleQueryString struct {
	Common
	Query           string
	Fields          []FieldBoost
	And             bool
	Analyzer        string
	AnalyzeWildcard bool
	QuoteSuffix     string
	Flags           string // names between |; "": ALL
	Fuzziness       Fuzziness
	MinimumShould   string
	Lenient         *bool
	NoSynonyms      bool
}

// Nested finds documents by the objects of a nested field.
type Nested struct {
	Common
	Path           string
	Query          Query
	ScoreMode      string // avg, sum, min, max, none; "": avg
	IgnoreUnmapped bool
	Inner          *Inner // inner_hits
}

// Inner asks for the nested objects that were found.
type Inner struct {
	Name       string
	Size, From int
	Request    any // what is to be told of each: the reader's business, see package query
}

// FunctionScore changes the scores of a query.
type FunctionScore struct {
	Common
	Query     Query
	Functions []Function
	ScoreMode string   // multiply, sum, avg, first, max, min; "": multiply
	BoostMode string   // multiply, replace, sum, avg, max, min; "": multiply
	MaxBoost  float32  // 0: none
	MinScore  *float32 // of a document
}

// Function is one of a FunctionScore: its kind is what is set.
type Function struct {
	Filter Query // nil: all documents
	Weight *float32
	Random *RandomScore
	Factor *FieldFactor
	Decay  *Decay
}

// RandomScore gives each document a number from 0 to 1, the same for the same seed.
type RandomScore struct {
	Seed  *int64 // nil: the time
	Field string // "": _seq_no
}

// FieldFactor is field_value_factor.
type FieldFactor struct {
	Field    string
	Factor   float64
	Modifier string // none, log, log1p, log2p, ln, ln1p, ln2p, square, sqrt, reciprocal; "": none
	Missing  *float64
}

// Decay is gauss, exp or linear.
type Decay struct {
	Shape         string
	Field         string
	Origin, Scale string
	Offset        string
	Decay         float64
	Mode          string // min, max, avg, sum; "": min
}

// GeoBox finds points in a box, GeoDistance near a point.
type (
	GeoBox struct {
		Common
		Field                    string
		Top, Left, Bottom, Right float64
		IgnoreUnmapped           bool
	}
	GeoDistance struct {
		Common
		Field          string
		Lat, Lon       float64
		Meters         float64
		IgnoreUnmapped bool
	}
)

// Wrapped is a query with an alias's filter, or what else is added without a score.
type Wrapped struct {
	Common
	Query  Query
	Filter Query
}
