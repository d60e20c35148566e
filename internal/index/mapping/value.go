package mapping

// Kind says which fields of a Value hold something.
type Kind uint8

// The kinds of values.
const (
	Text         Kind = iota // Bytes: UTF-8, of all text and keyword types
	Integer                  // Low
	Unsigned                 // Low, the bits of a uint64
	Real                     // Float; FloatHigh: before it was rounded to the 16 bits of half_float
	Truth                    // Low: 0 or 1
	Instant                  // Low: milliseconds since the epoch; date_nanos: nanoseconds
	Address                  // Bytes: 16 bytes, IPv4 mapped into IPv6
	Binary                   // Bytes
	Point                    // Float: latitude; FloatHigh: longitude
	IntegerRange             // Low to High, both included; dates and integers
	RealRange                // Float to FloatHigh, both included
	AddressRange             // Bytes: 32 bytes, both ends included
)

// Value is one typed value of one field.
type Value struct {
	Kind             Kind
	Low, High        int64
	Float, FloatHigh float64
	// LowOpen and HighOpen: the end of a range was told as excluded (gt, lt); the value
	// holds the next one, which is included.
	LowOpen, HighOpen bool
	Bytes             []byte // valid during the call that hands it out
	Net               []byte // of an ip_range that was told as a net: its text; likewise
	Arrays            int    // how many arrays the value stands in
	Copied            string // path of the field that it was copied from (copy_to); "": none
}

// Sink receives the values of a document, in the order of the source. A value of
// a field with multi-fields comes once for each. Calls come from within Document,
// one at a time.
type Sink interface {
	// Value receives one value. Between Begin and End it may be of a field that is
	// not in the nested object: a copy (copy_to) goes to the document, or the nested
	// object around, that the field belongs to.
	Value(f *Field, v Value)
	// Begin and End enclose the values of one object of a nested field. What its
	// parent or the document is to know of them too is the sink's to give them: see
	// [Field.IncludedInParent].
	Begin(nested *Field)
	End(nested *Field)
}

// Ignorer is a Sink that is told of malformed values which were passed over
// (ignore_malformed).
type Ignorer interface{ Ignored(f *Field) }
