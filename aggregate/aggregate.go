package aggregate

import (
	"github.com/reshelve/reshelve/search"
)

// Aggregation is one node of a request: its kind is the type of Kind.
type Aggregation struct {
	Name string
	Meta []byte // JSON; nil: none
	Kind Kind
	Subs []Aggregation
}

// Kind is one of the types of aggregations: *TermsOf, *Histogram, ….
type Kind interface{ kind() string }

// Collector collects for all aggregations of a request.
type Collector struct{}

var _ search.Collector = (*Collector)(nil)

// Options bound and help an aggregation.
type Options struct {
	MaxBuckets int   // 0: 65535
	Now        int64 // the time, in milliseconds
}

// New checks the tree as far as it can be without the indices.
func New(tree []Aggregation, o Options) (*Collector, error) { panic("aggregate: not built yet") }

// Begin is for search.Run.
func (c *Collector) Begin(at search.Place) (search.Leaf, error) { panic("aggregate: not built yet") }

// NeedsScores reports whether an aggregation needs the scores of documents.
func (c *Collector) NeedsScores() bool { panic("aggregate: not built yet") }

// AppendJSON appends the object of all results, as the server prints it; typed puts
// the types before names ("sterms#name"). Hits renders the hits of top_hits.
func (c *Collector) AppendJSON(dst []byte, typed bool, hits Hits) ([]byte, error) {
	panic("aggregate: not built yet")
}

// Hits appends the JSON of hits that top_hits found: the object that "hits" is.
type Hits func(dst []byte, of *TopHits, found search.Result) ([]byte, error)

// TopHits are the best documents of a bucket. Fetch is what is told of each: the
// reader's business, see package query.
type TopHits struct {
	From, Size int
	Sort       []search.Sort
	Fetch      any
}

func (*TopHits) kind() string { return "top_hits" }
