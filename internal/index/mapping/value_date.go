package mapping

import (
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// dateValue reads a date, or with nanos a date_nanos, out of any scalar. Null is
// the caller's.
func dateValue(f *date.Format, t token, nanos bool, p place) (Value, *exception.Error) {
	if !t.kind.IsScalar() {
		return Value{}, p.noText(t.kind)
	}
	return dateText(f, string(t.text), nanos)
}

// dateText is dateValue of a text.
func dateText(f *date.Format, text string, nanos bool) (v Value, _ *exception.Error) {
	v.Kind = Instant
	var err error
	if nanos {
		v.Low, err = f.ParseNanos(text)
	} else {
		v.Low, err = f.ParseMillis(text)
	}
	return v, exception.From(err)
}
