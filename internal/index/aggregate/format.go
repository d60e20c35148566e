package aggregate

import (
	"math"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// format is how numbers are told as text beside themselves.
type format struct {
	kind    formatKind
	decimal *java.Decimal
	dates   *date.Format
	zone    *time.Location
}

type formatKind uint8

const (
	plain    formatKind = iota // no text beside the number
	decimals                   // a pattern of digits
	dates                      // a format of dates
	truth                      // true and false
	unsigned                   // unsigned_long: told as it is where others tell nothing
)

const isoFormat = "strict_date_optional_time||epoch_millis"

// defaultDates is the format of dates that no field gives.
var defaultDates = date.MustFormat(isoFormat)

// formatOf works out the format of a field; f is nil where no index knows it.
func formatOf(f *fields.Field, index *search.Index, v *Values, dated bool) (format, error) {
	out := format{zone: v.Zone}
	isDate := dated || v.Type == "date"
	if f != nil {
		isDate = f.Kind() == fields.Date || f.Type() == "date_range"
	}
	var err error
	switch {
	case isDate:
		out.kind, out.dates = dates, defaultDates
		if f != nil {
			if m, ok := index.Schema.Mapping().Field(f.Name()); ok && m.Format() != nil {
				out.dates = m.Format()
			}
		}
		if v.Format != "" {
			out.dates, err = date.ParseFormat(v.Format)
		}
		return out, err
	case f == nil && v.Type == "boolean": // whatever form was asked for
		out.kind = truth
		return out, nil
	case f == nil || (f.Kind() == fields.Integer || f.Kind() == fields.Real) && !own(f):
		return out.number(f, v)
	case f.Type() == "binary":
		return out, nil
	case v.Format != "":
		return out, exception.New(exception.IllegalArgument, "Field [%s] of type [%s] does not support custom formats", f.Path(), f.Type())
	case v.Zone != nil:
		return out, noZone(f)
	case f.Kind() == fields.Truth:
		out.kind = truth
	}
	return out, nil
}

func (f format) number(field *fields.Field, v *Values) (format, error) {
	if v.Zone != nil && field != nil {
		return f, noZone(field)
	}
	if field != nil && field.Type() == "unsigned_long" {
		f.kind = unsigned
	}
	if v.Format != "" {
		decimal, mistake := java.ParseDecimal(v.Format)
		if mistake != "" {
			return f, exception.New(exception.IllegalArgument, "%s", mistake)
		}
		f.kind, f.decimal = decimals, decimal
	}
	return f, nil
}

func noZone(f *fields.Field) error {
	return exception.New(exception.IllegalArgument, "Field [%s] of type [%s] does not support custom time zones", f.Path(), f.Type())
}

// appendReal appends the JSON of a number as text.
func (f *format) appendReal(dst []byte, v float64) []byte {
	return token.AppendString(dst, f.realText(nil, v))
}

// appendObject is appendReal for members that the server gives another form where the
// text is not one: true, 7.0.
func (f *format) appendObject(dst []byte, v float64) []byte {
	switch f.kind {
	case truth:
		return f.realText(dst, v)
	case unsigned:
		return appendNumber(dst, v)
	}
	return f.appendReal(dst, v)
}

// realText is appendReal without quotes.
func (f *format) realText(dst []byte, v float64) []byte {
	switch f.kind {
	case decimals:
		return f.decimal.AppendDouble(dst, v)
	case dates:
		return f.dates.AppendFormat(dst, java.Long(v), 0, f.zone)
	case truth:
		return strconv.AppendBool(dst, v != 0)
	}
	return java.AppendReal(dst, v, 64)
}

// wholeText is realText of a whole number.
func (f *format) wholeText(dst []byte, n int64) []byte {
	switch f.kind {
	case decimals:
		return f.decimal.AppendLong(dst, n)
	case dates:
		return f.dates.AppendFormat(dst, n, 0, f.zone)
	case truth:
		return strconv.AppendBool(dst, n != 0)
	}
	return strconv.AppendInt(dst, n, 10)
}

// appendNumber appends the JSON of a double: numbers that JSON has no form for are texts.
func appendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		dst = java.AppendReal(append(dst, '"'), v, 64)
		return append(dst, '"')
	}
	return java.AppendReal(dst, v, 64)
}
