package date

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// field is one part of a date that a layout reads or writes.
type field uint8

const (
	year field = iota
	yearOfEra
	era // 0: before Christ, 1: after
	month
	day
	dayOfYear
	weekday        // 1: Monday
	alignedWeekday // day of the month in sevens: 1 to 7
	quarter
	julianDay // days since 1858-11-17
	weekYear  // of weeks that begin on Monday and have four days in their year
	week
	weekOfMonth
	localWeekday // 1: the first day of the week, which is Monday
	isoWeekYear  // as weekYear, checked as Java's IsoFields does
	isoWeek
	hour
	clockHour // 1 to 24
	hourOfHalf
	clockHourOfHalf // 1 to 12
	half            // 0: AM, 1: PM
	minute
	second
	nano
	milliOfDay
	nanoOfDay
	offset // seconds east of Greenwich
	fields // how many there are
)

// A trait is what the server knows of a field: its name and range appear in
// messages.
type trait struct {
	name      string
	low, high int64
	rangeText string // where the range is not "low - high"
	timeOfDay bool
}

const weekFields = "[WeekFields[MONDAY,4]]"

var traits = [fields]trait{
	year:            {name: "Year", low: -999999999, high: 999999999},
	yearOfEra:       {name: "YearOfEra", low: 1, high: 1000000000, rangeText: "1 - 999999999/1000000000"},
	era:             {name: "Era", low: 0, high: 1},
	month:           {name: "MonthOfYear", low: 1, high: 12},
	day:             {name: "DayOfMonth", low: 1, high: 31, rangeText: "1 - 28/31"},
	dayOfYear:       {name: "DayOfYear", low: 1, high: 366, rangeText: "1 - 365/366"},
	weekday:         {name: "DayOfWeek", low: 1, high: 7},
	alignedWeekday:  {name: "AlignedDayOfWeekInMonth", low: 1, high: 7},
	quarter:         {name: "QuarterOfYear", low: 1, high: 4},
	julianDay:       {name: "ModifiedJulianDay", low: -365243178575, high: 365241821058},
	weekYear:        {name: "WeekBasedYear" + weekFields, low: -999999999, high: 999999999},
	week:            {name: "WeekOfWeekBasedYear" + weekFields, low: 1, high: 53, rangeText: "1 - 52/53"},
	weekOfMonth:     {name: "WeekOfMonth" + weekFields, low: 0, high: 6, rangeText: "0/1 - 4/6"},
	localWeekday:    {name: "DayOfWeek" + weekFields, low: 1, high: 7},
	isoWeekYear:     {name: "WeekBasedYear", low: -999999999, high: 999999999},
	isoWeek:         {name: "WeekOfWeekBasedYear", low: 1, high: 53, rangeText: "1 - 52/53"},
	hour:            {name: "HourOfDay", low: 0, high: 23, timeOfDay: true},
	clockHour:       {name: "ClockHourOfDay", low: 1, high: 24, timeOfDay: true},
	hourOfHalf:      {name: "HourOfAmPm", low: 0, high: 11, timeOfDay: true},
	clockHourOfHalf: {name: "ClockHourOfAmPm", low: 1, high: 12, timeOfDay: true},
	half:            {name: "AmPmOfDay", low: 0, high: 1, timeOfDay: true},
	minute:          {name: "MinuteOfHour", low: 0, high: 59, timeOfDay: true},
	second:          {name: "SecondOfMinute", low: 0, high: 59, timeOfDay: true},
	nano:            {name: "NanoOfSecond", low: 0, high: 999999999, timeOfDay: true},
	milliOfDay:      {name: "MilliOfDay", low: 0, high: 86399999, timeOfDay: true},
	nanoOfDay:       {name: "NanoOfDay", low: 0, high: 86399999999999, timeOfDay: true},
	offset:          {name: "OffsetSeconds", low: -18 * 3600, high: 18 * 3600},
}

// fieldValues are the values of some fields.
type fieldValues struct {
	set   uint32
	value [fields]int64
}

func (v *fieldValues) has(f field) bool         { return v.set&(1<<f) != 0 }
func (v *fieldValues) put(f field, value int64) { v.set |= 1 << f; v.value[f] = value }
func (v *fieldValues) drop(f field)             { v.set &^= 1 << f }

func (v *fieldValues) get(f field) (int64, bool) { return v.value[f], v.has(f) }

// take gets a value and drops it.
func (v *fieldValues) take(f field) (int64, bool) {
	value, ok := v.get(f)
	v.drop(f)
	return value, ok
}

// add puts a value that must not differ from one that is there.
func (v *fieldValues) add(f field, value int64) *exception.Error {
	if old, ok := v.get(f); ok && old != value {
		return exception.New(exception.DateTime, "Conflict found: %s %d differs from %s %d", traits[f].name, old, traits[f].name, value)
	}
	v.put(f, value)
	return nil
}

// check refuses a value outside of the field's range.
func (f field) check(value int64) *exception.Error {
	t := &traits[f]
	if value >= t.low && value <= t.high {
		return nil
	}
	text := t.rangeText
	if text == "" {
		text = strconv.FormatInt(t.low, 10) + " - " + strconv.FormatInt(t.high, 10)
	}
	return exception.New(exception.DateTime, "Invalid value for %s (valid values %s): %d", t.name, text, value)
}

// fits tells whether the value is one of Java's int, as some fields must be
// before they are looked at.
func fits(value int64) bool { return value >= math.MinInt32 && value <= math.MaxInt32 }
