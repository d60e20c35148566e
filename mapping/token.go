package mapping

// tokenKind is what a token is.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenObject
	tokenObjectEnd
	tokenArray
	tokenArrayEnd
	tokenKey
	tokenString
	tokenInteger // without fraction and exponent
	tokenFloat
	tokenTrue
	tokenFalse
	tokenNull
)

// token is one token of a source. text is the unescaped content of a key or a
// string, the literal of a number, true or false; it is valid until the next
// token is read. For parsers of whole values (geo_point, ranges) an object or
// array token carries the bytes of the whole value, brackets included.
type token struct {
	kind tokenKind
	text []byte
}
