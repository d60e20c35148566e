package mapping

import (
	"bytes"
	"fmt"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// place is where a token begins in a source: some reasons tell it. It costs
// nothing until then.
type place struct {
	source []byte
	start  int
}

// at is the place of a byte of the value that begins here.
func (p place) at(offset int) place { return place{p.source, p.start + offset} }

// lineColumn counts from 1.
func (p place) lineColumn(offset int) (line, column int) {
	before := p.source[:min(offset, len(p.source))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// refuse is an exception of the server's parser, which tells the byte after the
// token, or after the bracket of a container.
func (p place) refuse(t exception.Type, format string, args ...any) *exception.Error {
	return p.refuseAt(t, p.end(), format, args...)
}

func (p place) refuseAt(t exception.Type, offset int, format string, args ...any) *exception.Error {
	line, column := p.lineColumn(offset)
	return exception.New(t, "%s\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: %d, column: %d]",
		fmt.Sprintf(format, args...), line, column)
}

// noText is an object or array where a text is wanted.
func (p place) noText(kind json.Kind) *exception.Error {
	line, column := p.lineColumn(p.start)
	return exception.New(exception.IllegalState, "Can't get text on a %s at %d:%d", kind, line, column)
}

// end is the offset behind the token, or behind the bracket of a container.
func (p place) end() int {
	i := p.start
	if i >= len(p.source) {
		return i
	}
	switch p.source[i] {
	case '{', '[', '}', ']':
		return i + 1
	case '"':
		for i++; i < len(p.source) && p.source[i] != '"'; i++ {
			if p.source[i] == '\\' {
				i++
			}
		}
		return i + 1
	}
	for i < len(p.source) && bytes.IndexByte([]byte(",]} \t\r\n/"), p.source[i]) < 0 {
		i++
	}
	return i
}

// kindName is a token's kind as the parser of numbers names it, finer than
// [json.Kind]'s own name.
func kindName(kind json.Kind) string {
	switch kind {
	case json.True:
		return "VALUE_TRUE"
	case json.False:
		return "VALUE_FALSE"
	case json.Integer:
		return "VALUE_NUMBER_INT"
	case json.Float:
		return "VALUE_NUMBER_FLOAT"
	}
	return kind.String()
}
