package date

import (
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// ParseMath reads a date with date math: "now" or a date and "||", then any
// number of steps, each +, - or / (round), a number, and a unit of y M w d h H
// m s. Times are milliseconds since 1970, with the nanoseconds of the
// millisecond. With roundUp, rounding gives the last millisecond of the unit, and
// a date without math the end of what it does not tell. Location is the zone in
// which days begin and in which texts without zone are; nil is UTC.
//
// Errors are those of the server: parse_exception, or date_time_exception and
// others for texts that the format reads.
func (f *Format) ParseMath(text string, nowMillis int64, roundUp bool, location *time.Location) (millis int64, nanos int, err error) {
	z := zone{}
	if location != nil && location != time.UTC {
		z.location = location
	}
	t, e := f.math(text, nowMillis, roundUp, z)
	if e != nil {
		return 0, 0, e
	}
	return t.millis()
}

func (f *Format) math(text string, nowMillis int64, roundUp bool, z zone) (instant, *exception.Error) {
	if steps, ok := strings.CutPrefix(text, "now"); ok {
		seconds, rest := divide(nowMillis, 1000)
		return doMath(steps, instant{seconds, rest * 1e6}, roundUp, z)
	}
	date, steps, ok := strings.Cut(text, "||")
	t, err := f.base(date, roundUp && !ok, z)
	if err != nil {
		return instant{}, err
	}
	return doMath(steps, t, roundUp, z)
}

// base reads the date before the math.
func (f *Format) base(text string, roundUp bool, z zone) (instant, *exception.Error) {
	if text == "" {
		return instant{}, exception.New(exception.OpenSearchParse, "cannot parse empty date")
	}
	parsers := f.parsers
	if roundUp {
		parsers = f.roundUp
	}
	t, err := f.parse(text, parsers, z)
	if err != nil && (err.Type == exception.IllegalArgument || err.Type == exception.DateTimeParse) {
		err = exception.New(exception.OpenSearchParse, "failed to parse date field [%s] with format [%s]: [%s]", strings.Clone(text), f.spec, err.Reason).CausedBy(err)
	}
	return t, err
}

func mathError(format string, args ...any) *exception.Error {
	return exception.New(exception.OpenSearchParse, format, args...)
}

// doMath takes the steps one after the other, on the local time of the zone.
func doMath(steps string, t instant, roundUp bool, z zone) (instant, *exception.Error) {
	for i := 0; i < len(steps); {
		operator := steps[i]
		i++
		if operator != '/' && operator != '+' && operator != '-' {
			return t, mathError("operator not supported for date math [%s]", strings.Clone(steps))
		}
		if i >= len(steps) {
			return t, mathError("truncated date math [%s]", strings.Clone(steps))
		}
		start := i
		for i < len(steps) && steps[i]-'0' <= 9 {
			i++
		}
		if i >= len(steps) {
			return t, mathError("truncated date math [%s]", strings.Clone(steps))
		}
		count, err := mathNumber(steps[start:i])
		if err != nil {
			return t, err
		}
		if operator == '/' && count != 1 {
			return t, mathError("rounding `/` can only be used on single unit types [%s]", strings.Clone(steps))
		}
		unit := steps[i]
		i++
		if !strings.ContainsRune("yMwdhHms", rune(unit)) {
			return t, mathError("unit [%c] not supported for date math [%s]", unit, strings.Clone(steps))
		}
		switch operator {
		case '/':
			t, err = round(t, unit, roundUp, z)
		case '+':
			t, err = plus(t, unit, count, z)
		default:
			t, err = plus(t, unit, -count, z)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// mathNumber is 1 if there is none.
func mathNumber(digits string) (n int64, err *exception.Error) {
	if digits == "" {
		return 1, nil
	}
	for i := range len(digits) {
		if n = n*10 + int64(digits[i]-'0'); n > 1<<31-1 {
			return 0, exception.New(exception.NumberFormat, "For input string: \"%s\"", strings.Clone(digits))
		}
	}
	return n, nil
}

// local is the time of the clocks of the zone.
func (t instant) local(z zone) (day, second int64) {
	return divide(t.seconds+z.eastAt(t.seconds), secondsOfDay)
}

func (z zone) instant(day, second, nanos int64) instant {
	local := day*secondsOfDay + second
	return instant{local - z.eastOf(local), nanos}
}

// plus moves by units of the calendar on the local clock, by hours and less on
// the time line.
func plus(t instant, unit byte, count int64, z zone) (instant, *exception.Error) {
	d, s := t.local(z)
	y, m, n := civil(d)
	switch unit {
	case 'y':
		d = plusMonths(y, m, n, 12*count)
	case 'M':
		d = plusMonths(y, m, n, count)
	case 'w':
		d += 7 * count
	case 'd':
		d += count
	case 'h', 'H':
		t.seconds += 3600 * count
	case 'm':
		t.seconds += 60 * count
	default:
		t.seconds += count
	}
	if y, _, _ := civil(d); year.check(y) != nil {
		return t, year.check(y)
	}
	if strings.IndexByte("yMwd", unit) < 0 {
		return t, nil
	}
	return z.instant(d, s, t.nanos), nil
}

// round goes to the start of the unit, or with up to its last millisecond.
func round(t instant, unit byte, up bool, z zone) (instant, *exception.Error) {
	d, s := t.local(z)
	y, _, n := civil(d)
	switch unit {
	case 'y':
		d, s = epochDay(y, 1, 1), 0
	case 'M':
		d, s = d-n+1, 0
	case 'w':
		d, s = d-weekdayOf(d)+1, 0
	case 'd':
		s = 0
	case 'h', 'H':
		s -= s % 3600
	case 'm':
		s -= s % 60
	}

	t = z.instant(d, s, 0)
	if !up {
		return t, nil
	}
	t, err := plus(t, unit, 1, z)
	if err != nil {
		return t, err
	}
	return instant{t.seconds - 1, 999_000_000}, nil
}
