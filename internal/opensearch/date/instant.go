package date

import (
	"fmt"
	"sort"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// instant is a point of time: seconds since 1970 and nanoseconds of the second.
type instant struct{ seconds, nanos int64 }

// instant fills up what a text does not tell, as OpenSearch does: a missing
// year is 1970, a missing month or day the first, a missing time midnight, a
// missing zone UTC. A zone in the text wins over the one that is given.
func (r *resolved) instant(given zone) (instant, *exception.Error) {
	z := given
	switch east, ok := r.get(offset); {
	case r.hasZone:
		z = zone{east: r.zone}
	case ok && (east > widest || east < -widest):
		return instant{}, wide
	case ok:
		z = zone{east: east}
	}
	d, ok, err := r.date()
	if err != nil {
		return instant{}, err
	}
	if !ok && !r.hasNanos {
		return instant{}, r.noDate()
	}
	local := d*secondsOfDay + r.nanos/1e9
	return instant{local - z.eastOf(local), r.nanos % 1e9}, nil
}

// date is the day, from the fields if resolving left them.
func (r *resolved) date() (d int64, ok bool, err *exception.Error) {
	if r.hasDay {
		return r.day, true, nil
	}
	y, hasYear := r.yearOrEpoch()
	m, hasMonth := r.get(month)
	n, hasDay := r.get(day)
	switch {
	case hasYear && hasMonth && hasDay:
		return existing(y, m, n)
	case hasYear && r.has(dayOfYear):
		nth := r.value[dayOfYear]
		if err := dayOfYear.check(nth); err != nil {
			return 0, false, err
		}
		if nth > daysOfYear(y) {
			return 0, false, exception.New(exception.DateTime, "Invalid date 'DayOfYear 366' as '%d' is not a leap year", y)
		}
		return epochDay(y, 1, 1) + nth - 1, true, nil
	case r.hasNanos && r.has(weekYear):
		return r.weekStart()
	case hasMonth && hasDay:
		return existing(y, m, n)
	case hasMonth:
		return existing(y, m, 1)
	case hasYear && !r.hasNanos:
		if err := year.check(y); err != nil {
			return 0, false, err
		}
		return epochDay(y, 1, 1), true, nil
	case r.has(weekYear):
		return r.weekStart()
	}
	return 0, false, nil
}

func (r *resolved) yearOrEpoch() (y int64, ok bool) {
	if y, ok = r.get(year); ok {
		return y, true
	}
	if y, ok = r.get(yearOfEra); ok {
		return y, true
	}
	return 1970, false
}

func existing(y, m, d int64) (int64, bool, *exception.Error) {
	for _, part := range [...]fieldValue{{year, y}, {month, m}, {day, d}} {
		if err := part.field.check(part.value); err != nil {
			return 0, false, err
		}
	}
	if err := exists(y, m, d); err != nil {
		return 0, false, err
	}
	return epochDay(y, m, d), true, nil
}

// weekStart is the Monday of a week; without a week, the Monday at or before
// the day that lies in the year as 1970-01-01 lies in its own.
func (r *resolved) weekStart() (int64, bool, *exception.Error) {
	y := r.value[weekYear]
	if err := weekYear.check(y); err != nil {
		return 0, false, err
	}
	w, ok := r.get(week)
	if !ok {
		return mondayOf(y, 1), true, nil
	}
	if w > 54 || w < 0 {
		return 0, false, exception.New(exception.DateTime, "Invalid value for %s (valid values 0/1 - 52/54): %d", traits[week].name, w)
	}
	if err := week.check(w); err != nil {
		return 0, false, err
	}
	return mondayOf(y, w), true, nil
}

// noDate tells that the fields make no date, in the form of java.time's Parsed.
func (r *resolved) noDate() *exception.Error {
	var parts []string
	if r.has(second) { // a fraction of zero comes with it
		r.put(nano, r.value[nano])
		parts = []string{"MicroOfSecond=0", "MilliOfSecond=0"}
	}
	for f := range fields {
		if value, ok := r.get(f); ok {
			parts = append(parts, fmt.Sprintf("%s=%d", traits[f].name, value))
		}
	}
	sort.Strings(parts)
	zone := ""
	if r.hasZone {
		w := writing{east: r.zone}
		zone = "," + string(w.zoneID(nil))
	}
	return exception.New(exception.IllegalArgument, "temporal accessor [{%s},ISO%s] cannot be converted to zoned date time", strings.Join(parts, ", "), zone)
}
