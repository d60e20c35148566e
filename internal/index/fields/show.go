package fields

import (
	"encoding/base64"
	"math"
	"net/netip"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Readable refuses fields without a column, in the words of the server: what sorting,
// aggregations and docvalue_fields ask for. _id has none in a mapping's sense, but can be
// read: a segment keeps the ids.
func (f *Field) Readable() error {
	refuse := func(format string, args ...any) error {
		return exception.New(exception.IllegalArgument, format, args...)
	}
	switch {
	case f.path == "_id", f.path == "_index":
		return nil
	case f.def == nil && f.path != "_seq_no":
		return refuse("Fielddata is not supported on field [%s] of type [%s]", f.path, f.row.name)
	case f.row.flat && f.under == "":
		return refuse("Field [%s] of type [%s] does not support doc_value in root field", f.path, f.row.name)
	case f.row.flat, f.row.kind == Interval, f.row.name == "constant_keyword":
		return refuse("sorting, counting and doc values are not supported for [%s] of type [%s]", f.path, f.row.name)
	case f.spec.Column != segment.NoColumn:
		return nil
	case f.row.kind == Text:
		return refuse("Text fields are not optimised for operations that require per-document field data like aggregations and sorting, "+
			"so these operations are disabled by default. Please use a keyword field instead. Alternatively, set fielddata=true on [%s] "+
			"in order to load field data by uninverting the inverted index. Note that this can use significant memory.", f.path)
	}
	return refuse("Can't load fielddata on [%s] because fielddata is unsupported on fields of type [%s]. Use doc values instead.", f.path, f.row.name)
}

// Printer writes numbers of a field's column as JSON. Immutable, safe for concurrent
// use.
type Printer struct {
	field *Field
	dates *date.Format // nil: not of dates
	zone  *time.Location
	plain *java.Decimal // of numbers with a format of their own; nil: none
}

// Printer is how docvalue_fields and keys of buckets show the field, in the format that
// is given, or the field's own. Errors are the server's: types without formats refuse
// one, and formats may be wrong.
func (f *Field) Printer(format string, zone *time.Location) (*Printer, error) {
	p := &Printer{field: f, zone: zone}
	if format == "use_field_mapping" {
		format = ""
	}
	var err error
	switch f.row.kind {
	case Date:
		p.dates = f.def.Format()
		if format != "" {
			p.dates, err = date.ParseFormat(format)
		}
		return p, err
	case Integer, Real:
		if f.def == nil && format != "" {
			return nil, f.noFormat()
		}
		if zone != nil && zone != time.UTC {
			return nil, f.noZone()
		}
		if format != "" {
			var wrong string
			if p.plain, wrong = java.ParseDecimal(format); wrong != "" {
				return nil, exception.New(exception.IllegalArgument, "%s", wrong)
			}
		}
		return p, nil
	}
	if format != "" && f.row.kind != Opaque {
		return nil, f.noFormat()
	}
	if zone != nil && zone != time.UTC && f.row.kind != GeoPoint {
		return nil, f.noZone()
	}
	return p, nil
}

func (f *Field) noFormat() error {
	return exception.New(exception.IllegalArgument, "Field [%s] of type [%s] does not support custom formats", f.path, f.row.name)
}

func (f *Field) noZone() error {
	return exception.New(exception.IllegalArgument, "Field [%s] of type [%s] does not support custom time zones", f.path, f.row.name)
}

// Append appends the JSON of a number.
func (p *Printer) Append(dst []byte, n int64) []byte {
	f := p.field
	switch {
	case p.dates != nil:
		millis, nanos := n, 0
		if f.row.name == "date_nanos" {
			millis, nanos = floor(n, 1_000_000), int(n-floor(n, 1_000_000)*1_000_000)
		}
		dst = append(dst, '"')
		dst = p.dates.AppendFormat(dst, millis, nanos, p.zone)
		return append(dst, '"')
	case p.plain != nil && f.row.name != "unsigned_long": // whose format the server leaves unused
		if f.row.kind == Integer && f.row.name != "scaled_float" {
			return token.AppendString(dst, p.plain.AppendLong(nil, n))
		}
		return token.AppendString(dst, p.plain.AppendDouble(nil, f.Float(n)))
	case f.row.kind == Truth:
		return strconv.AppendBool(dst, n != 0)
	case f.row.kind == GeoPoint:
		lat, lon := PointOf(n)
		dst = java.AppendReal(append(dst, '"'), lat, 64)
		dst = java.AppendReal(append(dst, ", "...), lon, 64)
		return append(dst, '"')
	}
	return f.AppendKey(dst, n)
}

// floor divides and rounds down.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// AppendKey appends a number of the column as a JSON number: what "key" of a bucket and
// values of sorting show.
func (f *Field) AppendKey(dst []byte, n int64) []byte {
	switch {
	case f.row.kind == Real, f.row.name == "scaled_float":
		return java.AppendReal(dst, f.Float(n), 64)
	case f.row.name == "unsigned_long":
		return strconv.AppendUint(dst, uint64(n^topBit), 10)
	}
	return strconv.AppendInt(dst, n, 10)
}

// AppendNumber appends the JSON of a number of the field's column, as docvalue_fields and
// keys of buckets show it: with the format that is given, or the field's own. For many
// numbers make one [Printer].
func (f *Field) AppendNumber(dst []byte, n int64, format string, zone *time.Location) ([]byte, error) {
	p, err := f.Printer(format, zone)
	if err != nil {
		return dst, err
	}
	return p.Append(dst, n), nil
}

// AppendTerm appends the JSON of a term of the field's column.
func (f *Field) AppendTerm(dst, term []byte) []byte {
	switch f.row.kind {
	case Address:
		return AppendAddress(dst, term)
	case Truth:
		return strconv.AppendBool(dst, len(term) == 1 && term[0] == 'T')
	case Opaque:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), term)
		return append(dst, '"')
	}
	return token.AppendString(dst, term)
}

// AppendAddress appends the JSON of an address of 16 bytes.
func AppendAddress(dst, address []byte) []byte { return token.AppendString(dst, addressText(address)) }

// addressText is an address in the form of RFC 5952, IPv4 where it is one.
func addressText(term []byte) string {
	a, ok := netip.AddrFromSlice(term)
	if !ok {
		return ""
	}
	return a.Unmap().String()
}

// Float is the value of a number of the field's column as metrics compute with it. Dates
// are milliseconds, date_nanos too.
func (f *Field) Float(n int64) float64 {
	switch {
	case f.row.kind == Real:
		return RealOf(n)
	case f.row.name == "scaled_float":
		return float64(n) * (1 / f.def.Scaling())
	case f.row.name == "unsigned_long":
		return float64(uint64(n ^ topBit))
	case f.row.name == "date_nanos":
		return float64(floor(n, 1_000_000))
	}
	return float64(n)
}

// Number is the opposite of Float, rounded down.
func (f *Field) Number(v float64) int64 {
	switch {
	case f.row.kind == Real:
		return RealBits(v)
	case f.row.name == "scaled_float":
		return java.Long(math.Floor(f.def.Scaled(v)))
	case f.row.name == "unsigned_long":
		v = math.Floor(v)
		switch {
		case v >= math.MaxUint64:
			return math.MaxInt64
		case v <= 0:
			return math.MinInt64
		}
		return int64(uint64(v)) ^ topBit
	case f.row.name == "date_nanos":
		return java.Long(math.Floor(v) * 1e6)
	}
	return java.Long(math.Floor(v))
}
