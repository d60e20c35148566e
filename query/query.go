package query

import "encoding/json"

// Search is one search, ready to be run over readers.
type Search struct {
	IDs        []string // only these ids; nil: all documents
	Sort       []Sort   // empty: _doc
	From, Size int
	After      []json.RawMessage // search_after: the sort values of the last hit seen; nil: from the start
	Source     SourceFilter
	TrackTotal int64 // count exactly up to this many; -1: all, 0: do not count
	Versions   bool  // "version": true
	SeqNoTerm  bool  // "seq_no_primary_term": true

	Hold func(bytes int64) error // asked before so many bytes of sources more are kept for the answer; nil: always allowed
}

// Sort is one key of an order.
type Sort struct {
	Field      string // "_id" or "_doc"
	Descending bool
}

// SourceFilter says what of a source is returned.
type SourceFilter struct {
	None     bool // nothing
	Includes []string
	Excludes []string
}

// All reports whether the source is returned as it is stored.
func (f SourceFilter) All() bool { return !f.None && len(f.Includes) == 0 && len(f.Excludes) == 0 }

// Hit is one document of an answer.
type Hit struct {
	Index       string
	ID          string
	Routing     string
	Source      []byte // nil when not asked for
	Version     int64
	SeqNo       int64
	PrimaryTerm int64
	Sort        []json.RawMessage // the values to go on from; nil without an order of its own
}

// Answer is what a search found.
type Answer struct {
	Shards  int
	Total   int64
	AtLeast bool // Total is a lower bound
	Hits    []Hit
}
