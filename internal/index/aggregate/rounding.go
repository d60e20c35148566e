package aggregate

import (
	"slices"
	"sort"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// rounding rounds times, in milliseconds, down to the interval that they are in.
//
// Calendar units begin where the clock of the zone says so: a day that begins in a gap of
// the clock begins behind it, and of a time that comes twice the first counts. Units of an
// hour and less, and fixed intervals, stay on their side of a change of the clock: an
// hour that comes twice is two intervals.
type rounding struct {
	unit   unit
	fixed  int64          // milliseconds, of unit fixedUnit
	zone   *time.Location // nil: UTC
	offset int64

	low, high int64  // of the last interval that was found
	known     []span // intervals that were found, by their ends
}

// span is an interval: low ≤ t < high.
type span struct{ low, high int64 }

// maxKnown bounds how many intervals are remembered.
const maxKnown = 1 << 14

type unit uint8

const (
	fixedUnit unit = iota
	second
	minute
	hour
	day
	week
	month
	quarter
	year
)

var units = map[string]unit{"second": second, "minute": minute, "hour": hour, "day": day, "week": week, "month": month, "quarter": quarter, "year": year}

const (
	msSecond = int64(1000)
	msMinute = 60 * msSecond
	msHour   = 60 * msMinute
	msDay    = 24 * msHour
	msWeek   = 7 * msDay
)

// newRounding makes one of a calendar unit, or of a fixed interval.
func newRounding(calendar string, fixed, offset int64, zone *time.Location) (*rounding, error) {
	r := &rounding{unit: units[calendar], fixed: fixed, offset: offset, low: 1}
	if zone != nil && zone != time.UTC && zone.String() != "UTC" {
		r.zone = zone
	}
	switch {
	case calendar == "" && fixed == 0:
		return nil, exception.New(exception.IllegalArgument, "Invalid interval specified, must be non-null and non-empty")
	case calendar == "" && fixed < 1:
		return nil, exception.New(exception.IllegalArgument, "Zero or negative time interval not supported")
	}
	return r, nil
}

// round is the beginning of the interval that t is in.
func (r *rounding) round(t int64) int64 {
	if t >= r.low && t < r.high {
		return r.low
	}
	at := t - r.offset
	if span := r.span(); span > 0 && r.zone == nil {
		return floorDiv(at-r.origin(), span)*span + r.origin() + r.offset
	}
	i := sort.Search(len(r.known), func(i int) bool { return r.known[i].high > t })
	if i < len(r.known) && r.known[i].low <= t {
		r.low, r.high = r.known[i].low, r.known[i].high
		return r.low
	}
	start := r.start(at)
	if found := r.interval(at, start); t < found.high && len(r.known) < maxKnown {
		r.known = slices.Insert(r.known, i, found)
	}
	return start + r.offset
}

// interval is what is known of the one that at, without the offset, is in: its end is
// not after its start where the clock changes in it.
func (r *rounding) interval(at, start int64) span {
	s := span{start + r.offset, start + r.offset}
	if r.unit >= day {
		s.high = r.after(s.low)
		return s
	}
	changed, changes := time.UnixMilli(at).In(r.zone).ZoneBounds()
	if !changed.IsZero() && start < changed.UnixMilli() {
		return s
	}
	if s.high = s.low + r.span(); !changes.IsZero() {
		s.high = min(s.high, changes.UnixMilli()+r.offset)
	}
	return s
}

// span is how long an interval is in UTC, where all are the same.
func (r *rounding) span() int64 {
	switch r.unit {
	case fixedUnit:
		return r.fixed
	case second:
		return msSecond
	case minute:
		return msMinute
	case hour:
		return msHour
	case day:
		return msDay
	case week:
		return msWeek
	}
	return 0
}

// origin is where intervals in UTC begin: weeks on Monday.
func (r *rounding) origin() int64 {
	if r.unit == week {
		return 4 * msDay
	}
	return 0
}

// after is the beginning of the interval behind one that begins at t.
func (r *rounding) after(t int64) int64 {
	at := t - r.offset
	switch {
	case r.zone == nil && r.span() > 0:
		return at + r.span() + r.offset
	case r.unit < day:
		next := at
		for step := r.span(); next <= at; step += r.span() { // a change of the clock may throw it back
			next = r.start(at + step)
		}
		return next + r.offset
	}
	y, m, d := r.local(at).Date()
	switch r.unit {
	case day:
		d++
	case week:
		d += 7
	case month:
		m++
	case quarter:
		m += 3
	case year:
		y++
	}
	return r.midnight(y, m, d) + r.offset
}

// local is the clock of the zone, as a time in UTC.
func (r *rounding) local(t int64) time.Time {
	return time.UnixMilli(t + r.east(t)).UTC()
}

// east is how far the clock is before UTC at a time.
func (r *rounding) east(t int64) int64 {
	if r.zone == nil {
		return 0
	}
	_, seconds := time.UnixMilli(t).In(r.zone).Zone()
	return int64(seconds) * msSecond
}

// start rounds down without an offset.
func (r *rounding) start(t int64) int64 {
	if r.unit < day {
		return r.startOfSpan(t)
	}
	local := r.local(t)
	y, m, d := local.Date()
	switch r.unit {
	case week:
		d -= (int(local.Weekday()) + 6) % 7
	case month:
		d = 1
	case quarter:
		m, d = (m-1)/3*3+1, 1
	case year:
		m, d = 1, 1
	}
	return r.midnight(y, m, d)
}

// midnight is the first time at which the clock shows a day: where midnight itself is
// skipped, the end of the gap.
func (r *rounding) midnight(y int, m time.Month, d int) int64 {
	wall := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMilli()
	if r.zone == nil {
		return wall
	}
	return r.first(wall)
}

// first is the earliest time at which the clock shows wall, or, if it never does, at
// which it jumps over it.
func (r *rounding) first(wall int64) int64 {
	early, late := r.east(wall-msDay), r.east(wall+msDay)
	for _, east := range [...]int64{max(early, late), min(early, late)} {
		if t := wall - east; r.east(t) == east {
			return t
		}
	}
	if jump, ok := r.change(wall-max(early, late)-msDay, wall-min(early, late)+msDay); ok {
		return jump
	}
	return wall - early
}

// change is the last change of the clock in (from, to], which is short.
func (r *rounding) change(from, to int64) (int64, bool) {
	start, _ := time.UnixMilli(to).In(r.zone).ZoneBounds()
	if start.IsZero() || start.UnixMilli() <= from {
		return 0, false
	}
	return start.UnixMilli(), true
}

// startOfSpan rounds the clock down by spans, and stays behind the last change of it: if
// that leads before the change, it is rounded as the time before it is. A fixed interval
// that would begin in a gap begins behind it.
func (r *rounding) startOfSpan(t int64) int64 {
	span := r.span()
	if r.zone == nil {
		return floorDiv(t, span) * span
	}
	for {
		east := r.east(t)
		wall := floorDiv(t+east, span) * span
		begin := wall - east
		changed, _ := time.UnixMilli(t).In(r.zone).ZoneBounds()
		if changed.IsZero() || begin >= changed.UnixMilli() {
			return begin
		}
		// The clock was changed inside of the interval.
		before := changed.UnixMilli() - 1
		was := r.east(before)
		if wall-was > before && r.unit == fixedUnit {
			return changed.UnixMilli() // wall is in the gap
		}
		t = before
	}
}
