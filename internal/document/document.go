package document

// Document is one live document, as it was stored.
type Document struct {
	Index    string
	Position Position
	ID       []byte
	Type     []byte // mapping type; empty where the version has no real types
	Routing  []byte // empty when the document has none
	Parent   []byte // id of the parent where the version stores it (1.x); empty otherwise
	// Source is one JSON value, byte for byte as submitted; nil when the document
	// has no source. A source stored in another format has been made JSON.
	Source []byte
	// Versions is nil unless asked for and held by the files.
	Versions *Versions
}

// Versions are the numbers by which writes to a document are ordered. A number
// that the files do not hold is negative.
type Versions struct {
	Version     int64
	SeqNo       int64
	PrimaryTerm int64
}
