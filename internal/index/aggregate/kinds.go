package aggregate

import (
	"time"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
)

// Values says which values of documents an aggregation is about.
type Values struct {
	Field   string
	Missing *fields.Value  // of documents that have none; nil: they do not count
	Format  string         // of what is told as text; "": the field's
	Zone    *time.Location // of dates; nil: UTC
	Type    string         // value_type, of a field that an index does not know: string, long, double, date, ip, boolean …; "": any
}

// Order is a key of the order of buckets: "_count", "_key", or the path of a metric below.
type Order struct {
	By         string
	Descending bool
}

// Terms has a bucket for each value.
type Terms struct {
	Values
	Order            []Order // empty: by count, the most first; then by key
	Size             int     // 0: 10
	ShardSize        int     // 0: as the server chooses it. It counts for sum_other_doc_count alone.
	MinDocCount      int64   // 0: terms that are in no document found too
	Include, Exclude *Choice
	ShowError        bool   // show_term_doc_count_error
	Hint             string // execution_hint: map or global_ordinals; without meaning here
}

// Choice says which terms there are buckets for: those of a list, those of a regular
// expression, or one part of several.
type Choice struct {
	List       []string // not nil: these
	Regexp     string
	Part, Of   int // Of above 0: a part of all terms
	Expression bool
}

// Histogram has a bucket for each interval of numbers.
type Histogram struct {
	Values
	Interval, Offset float64
	MinDocCount      int64 // 0: gaps are filled
	Order            []Order
	Keyed            bool
	Extended, Hard   *Bounds
}

// Bounds are ends of a histogram; each may be nil.
type Bounds struct{ Least, Greatest *float64 }

// DateHistogram has a bucket for each interval of time.
type DateHistogram struct {
	Values
	Calendar       string // second, minute, hour, day, week, month, quarter or year; "": Fixed
	Fixed          int64  // milliseconds
	Offset         int64  // milliseconds
	MinDocCount    int64  // 0: gaps are filled
	Order          []Order
	Keyed          bool
	Extended, Hard *DateBounds
}

// DateBounds are ends of a histogram of dates, as they are written; each may be nil.
type DateBounds struct{ Least, Greatest *fields.Value }

// Ranges has a bucket for each range of numbers, with its lower end and without its
// upper one.
type Ranges struct {
	Values
	Ranges []Range
	Keyed  bool
	Dates  bool // date_range: ends are dates of the format
}

// Range is one of Ranges. Ends are numbers or texts; nil: no end.
type Range struct {
	Key      string // "": made of the ends
	From, To *fields.Value
}

// AddressRanges has a bucket for each range of addresses (ip_range).
type AddressRanges struct {
	Values
	Ranges []AddressRange
	Keyed  bool
}

// AddressRange is one of AddressRanges: with ends, or a network.
type AddressRange struct {
	Key            string
	From, To, Mask string // "": none
}

// Filter has one bucket for what a query finds.
type Filter struct{ Query search.Query }

// Filters has a bucket for each of some queries, and perhaps one for what none finds.
type Filters struct {
	Named   bool
	Filters []NamedFilter // named ones are sorted by name
	Other   bool
	OtherAs string // "": _other_
}

// NamedFilter is one of Filters.
type NamedFilter struct {
	Name  string
	Query search.Query
}

// Missing has one bucket for documents without a value.
type Missing struct{ Values }

// Global has one bucket for all documents, whatever the search finds.
type Global struct{}

// Nested has one bucket for the objects of a nested field.
type Nested struct{ Path string }

// ReverseNested has one bucket for what the nested objects are part of: documents, or
// objects of the nested field Path.
type ReverseNested struct{ Path string }

// Metric is one of min, max, avg, sum, value_count, stats and extended_stats.
type Metric struct {
	Values
	Of    string   // its name
	Sigma *float64 // of extended_stats; nil: 2
}

// WeightedAverage is weighted_avg.
type WeightedAverage struct {
	Value, Weight Values
	Format        string
}

// Cardinality counts different values.
type Cardinality struct {
	Values
	Precision *int // precision_threshold; nil: 3000, above 40000 it is that
}

// Percentiles are values below which given parts of all lie, or, with Ranks, which parts
// of all lie below given values.
type Percentiles struct {
	Values
	Points      []float64 // ascending; nil: 1, 5, 25, 50, 75, 95, 99
	Ranks       bool
	Keyed       bool
	Compression float64 // 0: 100
}

// Composite has a bucket for each combination of keys, page by page.
type Composite struct {
	Sources []CompositeSource
	Size    int
	After   []fields.Value // of each source: the last key of the page before; nil: from the start
	// AfterMissing is a source that After has no value of; "": none.
	AfterMissing string
}

// CompositeSource is a part of a key.
type CompositeSource struct {
	Name          string
	Of            Kind // *Terms, *Histogram or *DateHistogram: their values and intervals
	Descending    bool
	MissingBucket bool
	MissingOrder  string // first, last or default; "": default
}

// GeoCentroid is the middle of points.
type GeoCentroid struct{ Values }

// TopHits are the best documents of a bucket. Fetch is what is told of each: the
// reader's business, see package query.
type TopHits struct {
	From, Size  int
	Sort        []search.Sort
	TrackScores bool // although sorted by something else
	Fetch       any
}

func (*Terms) kind() string         { return "terms" }
func (*Histogram) kind() string     { return "histogram" }
func (*DateHistogram) kind() string { return "date_histogram" }
func (k *Ranges) kind() string {
	if k.Dates {
		return "date_range"
	}
	return "range"
}
func (*AddressRanges) kind() string   { return "ip_range" }
func (*Filter) kind() string          { return "filter" }
func (*Filters) kind() string         { return "filters" }
func (*Missing) kind() string         { return "missing" }
func (*Global) kind() string          { return "global" }
func (*Nested) kind() string          { return "nested" }
func (*ReverseNested) kind() string   { return "reverse_nested" }
func (k *Metric) kind() string        { return k.Of }
func (*WeightedAverage) kind() string { return "weighted_avg" }
func (*Cardinality) kind() string     { return "cardinality" }
func (k *Percentiles) kind() string {
	if k.Ranks {
		return "percentile_ranks"
	}
	return "percentiles"
}
func (*Composite) kind() string   { return "composite" }
func (*GeoCentroid) kind() string { return "geo_centroid" }
func (*TopHits) kind() string     { return "top_hits" }
