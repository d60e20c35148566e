package query

import "encoding/json"

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
