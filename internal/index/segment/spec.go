package segment

// Postings says what is known of a term in a doc.
type Postings uint8

// What postings hold; each holds what the ones before it do.
const (
	NoPostings  Postings = iota
	Docs                 // that it is there
	Frequencies          // and how often
	Positions            // and where
)

// Column says what values are kept by doc.
type Column uint8

// The kinds of columns.
const (
	NoColumn Column = iota
	Numbers         // any number of int64 for each doc, ascending
	Ordinals        // the ranks of the field's terms, each once, ascending
)

// Spec is what a segment holds of a field. It is the same for all docs of a segment.
type Spec struct {
	Postings Postings
	Lengths  bool // one byte for each doc: its length, rounded
	Column   Column
	Points   bool // the numbers, in order, with their docs
}

// Stats are counts over all docs of a segment, masked ones too.
type Stats struct {
	Docs        int64 // that have a term of the field
	Postings    int64 // sum over all terms of the docs that have it
	Frequencies int64 // sum over all terms of how often they are there; of postings without frequencies the same as Postings
}
