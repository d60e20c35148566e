package date

import (
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// resolved is what the fields of a text mean: a day, a time, or neither, and
// the fields that are left.
type resolved struct {
	fieldValues
	strict, lenient  bool
	day              int64 // since 1970-01-01
	nanos            int64 // of the day
	hasDay, hasNanos bool
	extraDays        int64 // 24:00 is the next day
	zone             int64 // seconds east of Greenwich
	hasZone          bool
}

// resolve turns fields into a day and a time, in the order of java.time: the
// order decides which of two faults is told.
func (r *resolved) resolve() *exception.Error {
	err := r.resolveDay()
	if err == nil {
		err = r.resolveTime()
	}
	if err == nil {
		err = r.resolveWeeks()
	}
	if err == nil {
		err = r.resolveDay() // of fields that weeks gave
	}
	if err == nil {
		err = r.fillTime()
	}
	if err == nil {
		err = r.crossCheck()
	}
	if err == nil {
		err = r.checkOffset()
	}
	return err
}

func (r *resolved) setDay(d int64) *exception.Error {
	if r.hasDay && r.day != d {
		return exception.New(exception.DateTime, "Conflict found: Fields resolved to two different dates: %s %s", dayText(r.day), dayText(d))
	}
	r.day, r.hasDay = d, true
	return nil
}

func (r *resolved) resolveDay() *exception.Error {
	if err := r.resolveEra(); err != nil {
		return err
	}
	y, ok := r.get(year)
	if !ok {
		return nil
	}
	switch {
	case r.has(month) && r.has(day):
		r.drop(year)
		m, _ := r.take(month)
		d, _ := r.take(day)
		return r.yearMonthDay(y, m, d)
	case r.has(dayOfYear):
		r.drop(year)
		n, _ := r.take(dayOfYear)
		return r.yearDay(y, n)
	}
	return nil
}

// resolveEra makes a year of the year of an era. Where dates must exist, a year
// without an era stays what it is: no era is invented.
func (r *resolved) resolveEra() *exception.Error {
	yoe, ok := r.take(yearOfEra)
	if !ok {
		if e, ok := r.get(era); ok {
			return era.check(e)
		}
		return nil
	}
	if !r.lenient {
		if err := yearOfEra.check(yoe); err != nil {
			return err
		}
	}
	e, hasEra := r.take(era)
	y, hasYear := r.get(year)
	switch {
	case hasEra && e == 1:
		return r.add(year, yoe)
	case hasEra && e == 0:
		return r.add(year, 1-yoe)
	case hasEra:
		return exception.New(exception.DateTime, "Invalid value for era: %d", e)
	case r.strict && !hasYear:
		r.put(yearOfEra, yoe)
		return nil
	case hasYear && y <= 0:
		return r.add(year, 1-yoe)
	}
	return r.add(year, yoe)
}

func (r *resolved) yearMonthDay(y, m, d int64) *exception.Error {
	if err := year.check(y); err != nil {
		return err
	}
	if r.lenient {
		first := plusMonths(y, 1, 1, m-1)
		if y, _, _ := civil(first + d - 1); year.check(y) != nil {
			return exception.New(exception.DateTime, "Invalid value for EpochDay (valid values -365243219162 - 365241780471): %d", first+d-1)
		}
		return r.setDay(first + d - 1)
	}
	if err := month.check(m); err != nil {
		return err
	}
	if err := day.check(d); err != nil {
		return err
	}
	if !r.strict {
		d = min(d, daysOfMonth(y, m))
	}
	if err := exists(y, m, d); err != nil {
		return err
	}
	return r.setDay(epochDay(y, m, d))
}

// exists refuses a day beyond its month.
func exists(y, m, d int64) *exception.Error {
	switch {
	case d <= daysOfMonth(y, m):
		return nil
	case d == 29:
		return exception.New(exception.DateTime, "Invalid date 'February 29' as '%d' is not a leap year", y)
	}
	return exception.New(exception.DateTime, "Invalid date '%s %d'", upper(months[m-1]), d)
}

func upper(text string) string {
	out := []byte(text)
	for i := range out {
		out[i] &^= 0x20
	}
	return string(out)
}

func (r *resolved) yearDay(y, n int64) *exception.Error {
	if err := year.check(y); err != nil {
		return err
	}
	if r.lenient {
		return r.setDay(epochDay(y, 1, 1) + n - 1)
	}
	if err := dayOfYear.check(n); err != nil {
		return err
	}
	if n > daysOfYear(y) {
		return exception.New(exception.DateTime, "Invalid date 'DayOfYear 366' as '%d' is not a leap year", y)
	}
	return r.setDay(epochDay(y, 1, 1) + n - 1)
}

// resolveWeeks handles what is not of the plain calendar.
func (r *resolved) resolveWeeks() *exception.Error {
	if n, ok := r.take(julianDay); ok {
		if err := julianDay.check(n); err != nil {
			return err
		}
		if err := r.setDay(n - 40587); err != nil {
			return err
		}
	}
	for _, f := range [...]field{weekYear, week, weekOfMonth, localWeekday} {
		if n, ok := r.get(f); ok && !fits(n) {
			return exception.New(exception.Arithmetic, "integer overflow")
		}
	}
	if n, ok := r.take(localWeekday); ok {
		if err := localWeekday.check(n); err != nil {
			return err
		}
		r.put(weekday, n)
	}
	if !r.has(weekday) {
		return nil
	}
	switch {
	case r.has(weekYear) && r.has(week):
		return r.weekDate(weekYear, week)
	case r.has(isoWeekYear) && r.has(isoWeek):
		return r.weekDate(isoWeekYear, isoWeek)
	case r.has(weekOfMonth) && r.has(year) && r.has(month):
		return r.weekOfMonthDate()
	}
	return nil
}

func (r *resolved) weekDate(years, weeks field) *exception.Error {
	y, _ := r.take(years)
	w, _ := r.take(weeks)
	n, _ := r.take(weekday)
	if err := weekday.check(n); err != nil {
		return err
	}
	if err := years.check(y); err != nil {
		return err
	}
	if weeks == isoWeek && r.strict && (w < 1 || w > weeksOf(y)) {
		return exception.New(exception.DateTime, "Invalid value for %s (valid values 1 - %d): %d", traits[weeks].name, weeksOf(y), w)
	}
	if err := weeks.check(w); err != nil {
		return err
	}
	if weeks == week {
		w = min(w, weeksOf(y))
	}
	return r.setDay(mondayOf(y, w) + n - 1)
}

func (r *resolved) weekOfMonthDate() *exception.Error {
	y, _ := r.take(year)
	m, _ := r.take(month)
	w, _ := r.take(weekOfMonth)
	n, _ := r.take(weekday)
	for f, value := range map[field]int64{year: y, month: m, weekOfMonth: w, weekday: n} {
		if err := f.check(value); err != nil {
			return err
		}
	}
	first := epochDay(y, m, 1)
	d := first + (w-weekInMonth(first))*7 + n - weekdayOf(first)
	if dy, dm, _ := civil(d); r.strict && (dy != y || dm != m) {
		return exception.New(exception.DateTime, "Strict mode rejected resolved date as it is in a different month")
	}
	return r.setDay(d)
}

// weekInMonth is the week of the month of a day: 1 is the first with four days.
func weekInMonth(epochDay int64) int64 {
	_, _, d := civil(epochDay)
	monday := d - weekdayOf(epochDay) + 1 // of its week, as a day of the month
	if monday > 0 {
		week := (monday-1)/7 + 1
		if (monday-1)%7 >= 4 {
			week++
		}
		return week
	}
	if monday+6 >= 4 {
		return 1
	}
	return 0
}

// crossCheck compares the fields that are left with the day.
func (r *resolved) crossCheck() *exception.Error {
	if !r.hasDay {
		return nil
	}
	y, m, d := civil(r.day)
	for _, check := range [...]fieldValue{
		{weekday, weekdayOf(r.day)}, {alignedWeekday, (d-1)%7 + 1}, {quarter, (m-1)/3 + 1}, {month, m}, {day, d},
		{year, y}, {dayOfYear, r.day - epochDay(y, 1, 1) + 1}, {era, eraOf(y)}, {yearOfEra, yearOfEraOf(y)},
	} {
		value, ok := r.take(check.field)
		if ok && value != check.value {
			name := traits[check.field].name
			return exception.New(exception.DateTime, "Conflict found: Field %s %d differs from %s %d derived from %s", name, check.value, name, value, dayText(r.day))
		}
	}
	return nil
}

func eraOf(y int64) int64 {
	if y > 0 {
		return 1
	}
	return 0
}

func yearOfEraOf(y int64) int64 {
	if y > 0 {
		return y
	}
	return 1 - y
}

func (r *resolved) checkOffset() *exception.Error {
	if east, ok := r.get(offset); ok && (east > widest || east < -widest) && r.hasDay && r.hasNanos {
		return wide
	}
	return nil
}

// dayText is a date as java.time prints it.
func dayText(epochDay int64) string {
	y, m, d := civil(epochDay)
	out := appendPadded(nil, y, 4)
	if y > 9999 {
		out = append([]byte{'+'}, out...)
	}
	return string(appendPadded(append(appendPadded(append(out, '-'), m, 2), '-'), d, 2))
}

// appendPadded writes at least width digits, after a minus for less than zero.
func appendPadded(out []byte, value int64, width int) []byte {
	if value < 0 {
		out, value = append(out, '-'), -value
	}
	text := strconv.AppendInt(nil, value, 10)
	for range width - len(text) {
		out = append(out, '0')
	}
	return append(out, text...)
}
