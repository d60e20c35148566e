package mapping

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// longestTerm is how many bytes an index takes as one term.
const longestTerm = 32766

// immense refuses a text that is too long to be found, if it is to be; nil
// otherwise. The server tells it of the document, after all mistakes in it.
func immense(f *Field, text []byte) *exception.Error {
	switch {
	case len(text) <= longestTerm:
		return nil
	case f.Indexed():
	case f.DocValues():
		return exception.New(exception.IllegalArgument, "DocValuesField \"%s\" is too large, must be <= %d", f.path, longestTerm)
	default:
		return nil
	}
	start := make([]string, 30)
	for i := range start {
		start[i] = strconv.Itoa(int(int8(text[i])))
	}
	cause := exception.New("max_bytes_length_exceeded_exception", "bytes can be at most %d in length; got %d", longestTerm, len(text))
	return exception.New(exception.IllegalArgument, "Document contains at least one immense term in field=\"%s\" (whose UTF8 encoding is longer than the max length %d), all of which were skipped."+
		"  Please correct the analyzer to not produce such terms.  The prefix of the first immense term is: '[%s]...', original message: %s",
		f.path, longestTerm, strings.Join(start, ", "), cause.Reason).CausedBy(cause)
}
