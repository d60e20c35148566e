package mapping

import json "github.com/reshelve/reshelve/internal/opensearch/token"

// token is one token of a source as parsers of values get it: text is the
// unescaped content of a string, or the literal of a number, true or false, valid
// until the next token is read. An object or array carries the bytes of the whole
// value, brackets included.
type token struct {
	kind json.Kind
	text []byte
}

// startsObject reports whether the first byte that is not white space begins an
// object: what does not is no JSON to the server.
func startsObject(data []byte) bool {
	for i, c := range data {
		switch c {
		case ' ', '\n', '\r', '\t', 0xef, 0xbb, 0xbf:
			if c >= 0x80 && i > 2 {
				return false
			}
		default:
			return c == '{'
		}
	}
	return false
}
