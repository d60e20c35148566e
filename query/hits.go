package query

// Fetch is what is told of each hit: of a search, of inner_hits, of top_hits.
type Fetch struct {
	Source         SourceFilter
	StoredFields   []string // names and patterns; nil: not asked. ["_none_"]: no source, no id
	DocvalueFields []FieldFormat
	Fields         []FieldFormat
	Highlight      *Highlight // nil: none
	Version        bool
	SeqNoTerm      bool
	Explain        bool
	TrackScores    bool // of top_hits and inner_hits
}

// FieldFormat is a field, or a pattern of fields, with the format of its values.
type FieldFormat struct {
	Field           string
	Format          string // "": the field's own
	IncludeUnmapped bool   // of Fields: what no mapping knows, too
}

// Highlight is what of the texts that were found is shown.
type Highlight struct{}

// fetchOption reads the value of a member that says what is told of hits. Known is
// false when it is none of those, and nothing has been read.
func (p *parser) fetchOption(name string, f *Fetch) (known bool, err error) { return false, nil }
