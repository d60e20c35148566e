package fields

import (
	"math"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// exactDate is the span that a date means: a day, if it tells no hour.
func exactDate(f *Field, v Value, now int64) (Match, error) {
	both := &Bound{Value: v, Include: true}
	return datesWithin(f, Asked{From: both, To: both}, now)
}

// datesWithin: what a bound does not tell is the start or the end of its span, so that
// the span is in the range or not.
func datesWithin(f *Field, a Asked, now int64) (Match, error) {
	format, err := f.dateFormat(a)
	if err != nil {
		return none, err
	}
	least, greatest := int64(math.MinInt64), int64(math.MaxInt64)
	if a.From != nil {
		n, err := f.instant(format, a.From.Value, now, !a.From.Include, a.Zone)
		if err != nil {
			return none, err
		}
		if least = n; !a.From.Include {
			if n == math.MaxInt64 {
				return none, nil
			}
			least++
		}
	}
	if a.To != nil {
		n, err := f.instant(format, a.To.Value, now, a.To.Include, a.Zone)
		if err != nil {
			return none, err
		}
		if greatest = n; !a.To.Include {
			if n == math.MinInt64 {
				return none, nil
			}
			greatest--
		}
	}
	return numbers(least, greatest), nil
}

// dateFormat is how a range writes its dates.
func (f *Field) dateFormat(a Asked) (*date.Format, error) {
	if a.Format == "" {
		return f.def.Format(), nil
	}
	return date.ParseFormat(a.Format)
}

// instant reads a date of a query as a number of the column.
func (f *Field) instant(format *date.Format, v Value, now int64, roundUp bool, zone *time.Location) (int64, error) {
	millis, nanos, err := format.ParseMath(v.String(), now, roundUp, zone)
	if err != nil || f.row.name == "date" {
		return millis, err
	}
	return nanosOf(millis, nanos)
}

// nanosOf is an instant as date_nanos keeps it.
func nanosOf(millis int64, nanos int) (int64, error) {
	const greatest = math.MaxInt64 / 1_000_000
	switch {
	case millis < 0:
		return 0, exception.New(exception.IllegalArgument, "date[%s] is before the epoch in 1970 and cannot be stored in nanosecond resolution", isoText(millis, nanos))
	case millis > greatest || millis == greatest && int64(nanos) > math.MaxInt64%1_000_000:
		return 0, exception.New(exception.IllegalArgument, "date[%s] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond resolution", isoText(millis, nanos))
	}
	return millis*1_000_000 + int64(nanos), nil
}

// isoText is an instant as Java prints it.
func isoText(millis int64, nanos int) string {
	t := time.UnixMilli(millis).UTC().Add(time.Duration(nanos))
	switch {
	case t.Nanosecond() == 0:
		return t.Format("2006-01-02T15:04:05Z")
	case t.Nanosecond()%1_000_000 == 0:
		return t.Format("2006-01-02T15:04:05.000Z")
	case t.Nanosecond()%1_000 == 0:
		return t.Format("2006-01-02T15:04:05.000000Z")
	}
	return t.Format("2006-01-02T15:04:05.000000000Z")
}
