package lucene

// StoredValue is one stored field of a document.
type StoredValue struct {
	Field int32 // field number; Segment.Fields names it
	Kind  ValueKind
	// Bytes holds a String or Bytes value, part of the reader's buffer and valid
	// until the reader's next call; nil for numbers.
	Bytes []byte
	// Bits holds a number: the two's complement of an Int or Long, the IEEE bits
	// of a Float (32) or Double (64).
	Bits uint64
}

// ValueKind is the type of a stored value. The numbers are those of the format.
type ValueKind uint8

const (
	String ValueKind = iota
	Bytes
	Int
	Float
	Long
	Double
)
