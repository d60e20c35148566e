package search

import (
	"cmp"
	"time"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Index is what is searched of one index.
type Index struct {
	Number  uint32
	Name    string
	UUID    string   // told by errors
	Aliases []string // names under which queries on _index find it too
	Schema  *fields.Schema
	// Defaults are the patterns of index.query.default_field; none: "*".
	Defaults []string
	Limits   Limits   // where they differ from the request's
	Lenient  bool     // index.query_string.lenient: of query_string that does not say itself
	Filter   Query    // that every document must meet, without a score: an alias's; nil: none
	Sources  []Source // its shards, or those that are visited, by range
}

// Source is one shard at one sequence number.
type Source struct {
	Shard  uint32
	Within routing.Range // the keys of all that its views show; the zero Range: any
	Views  []segment.View
}

// Request is one search. The zero value finds nothing: make it with NewRequest.
type Request struct {
	Query      Query
	PostFilter Query // narrows the hits, not what collectors see; nil: none
	MinScore   *float32
	Sort       []Sort      // empty: by score
	Size       int         // hits wanted, from the first on
	After      []SortValue // search_after, one for each key of Sort; nil: from the start
	TrackTotal int64       // count exactly up to this many; -1: all, 0: do not count
	TrackScore bool        // scores although sorted by something else
	Slice      *Slice
	Now        int64 // the time, in milliseconds
	Collectors []Collector
	Limits     Limits
	// Check is asked about each index before anything is looked for, when query, order and
	// collectors are right: what else the index refuses. Nil: nothing.
	Check   func(*Index) error
	Timeout time.Duration // what is found until then is the answer; not above 0: no end
}

// Slice is a part of a scroll or a point in time.
type Slice struct {
	Field   string // "_id", or a field of numbers
	ID, Max int
}

// Limits bound what a query may cost; 0: the server's default.
type Limits struct {
	Clauses int // of all bool queries, and terms of those that are expanded: 1024
	Terms   int // of one terms query: 65536
	Regexp  int // characters of one regular expression: 1000
	Hits    int // told at a time: 10000
	Inner   int // of inner_hits and top_hits: 100
	Columns int // docvalue_fields: 100; below 0: none
}

// or takes other limits where these say nothing.
func (l Limits) or(other Limits) Limits {
	return Limits{
		cmp.Or(l.Clauses, other.Clauses), cmp.Or(l.Terms, other.Terms), cmp.Or(l.Regexp, other.Regexp),
		cmp.Or(l.Hits, other.Hits), cmp.Or(l.Inner, other.Inner), cmp.Or(l.Columns, other.Columns),
	}
}

// Sort is one key of an order.
type Sort struct {
	Field        string // a field, _score, _doc, _id, _index, _shard_doc or _geo_distance
	Descending   bool
	Missing      *fields.Value // nil: _last; also the texts _last and _first
	Mode         string        // min, max, avg, sum, median; "": min ascending, max descending
	UnmappedType string
	NumericType  string
	Format       string
	Nested       *NestedSort
	Geo          *GeoSort
}

// NestedSort says whose values of nested objects count.
type NestedSort struct {
	Path        string
	Filter      Query
	MaxChildren int // 0: all
	Nested      *NestedSort
}

// GeoSort is sorting by distance.
type GeoSort struct {
	Lat, Lon []float64
	Unit     string // meters of one: "m"
	Plane    bool
}

// SortValue is a value of a hit under one key: what search_after goes on from.
type SortValue struct {
	Null bool
	Kind SortKind
	N    int64   // Integral; Unsigned: its bits
	F    float64 // Fractional
	Text []byte  // Textual
}

// SortKind says which part of a SortValue counts.
type SortKind uint8

// The kinds of sort values.
const (
	Integral SortKind = iota
	Fractional
	Textual
	Unsigned
)

// Hit is one document found.
type Hit struct {
	Index, Source int // of the indices that were searched, and its Sources
	View          int // of the Source's Views
	Doc           segment.Doc
	Key           routing.Key
	ID            string
	Score         float32
	Sort          []SortValue
	Matched       []string // names of queries that found it
}

// Result is what a search found.
type Result struct {
	Total    int64
	AtLeast  bool     // Total is a lower bound
	MaxScore *float32 // nil: no hits, or not computed
	Hits     []Hit    // best first, at most Size
	Scored   bool     // Hits have scores
	TimedOut bool     // not all was looked at
}

// Collector sees every document that is found. Calls come one at a time, of one source
// after the other and of docs in their order.
type Collector interface {
	// Begin is called before the docs of a view. It gives what takes them.
	Begin(at Place) (Leaf, error)
}

// Leaf takes the docs of one view. Score gives the score of the doc that is collected,
// when the collector NeedsScores; otherwise it is nil.
type Leaf interface {
	Collect(doc segment.Doc, score func() float32) error
}

// DocsLeaf is a Leaf that takes many docs at once: they are in order, and valid during the
// call. It is asked instead of Collect when scores are not needed.
type DocsLeaf interface {
	CollectDocs(docs []segment.Doc) error
}

// Scoring is a Collector that may need scores. Others do not.
type Scoring interface {
	NeedsScores() bool
}

// Preparing is a Collector that is told of all indices before the search, of those
// without a document too. Its error ends the search.
type Preparing interface {
	Prepare(indices []Index) error
}

// Place is where a collector is.
type Place struct {
	Context *Context
	Index   int
	View    segment.View // of one source, or what several show of a segment that they share
	visited *visited
}

// Matcher finds what a query means in views.
type Matcher interface {
	// Docs are the docs of a view that are found and shown; roots and children, as the
	// query means.
	Docs(v segment.View) (*segment.Bits, error)
}

// NewRequest is match_all: 10 hits by score, counted up to 10,000.
func NewRequest() Request { return Request{Query: MatchAll{}.any(), Size: 10, TrackTotal: 10000} }

func (m MatchAll) any() Query { m.Boost = 1; return &m }
