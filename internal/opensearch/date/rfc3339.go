package date

import (
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// rfc3339Time reads the format rfc3339_lenient: uuuu, uuuu-MM, uuuu-MM-dd, and
// with 'T', 't' or a blank HH:mm or HH:mm:ss, both with an offset; seconds may
// have a fraction after a dot or a comma. Its failures have words of their own.
func rfc3339Time(text string) (instant, *mishap) {
	r := rfc{text: text, original: text}
	if utf8.RuneCountInString(text) < len(text) { // places are those of characters
		r.text = strings.Map(func(c rune) rune { return min(c, 127) }, text)
	}
	t, err := r.instant()
	if err != nil {
		return instant{}, &mishap{words: err}
	}
	return t, nil
}

type rfc struct {
	text, original string
	at             int
}

func (r *rfc) fail(format string, args ...any) *exception.Error {
	return exception.New(exception.DateTimeParse, format, args...)
}

func (r *rfc) number(digits int) (value int64, err *exception.Error) {
	end := r.at + digits
	if end > len(r.text) {
		return 0, r.fail("Unexpected end of expression at position %d", len(r.text))
	}
	for ; r.at < end; r.at++ {
		c := r.text[r.at] - '0'
		if c > 9 {
			return 0, r.fail("Character %c is not a digit", []rune(r.original)[r.at])
		}
		value = value*10 + int64(c)
	}
	return value, nil
}

func (r *rfc) literal(c byte) *exception.Error {
	if r.at >= len(r.text) {
		return r.fail("Unexpected end of input")
	}
	if r.text[r.at] != c {
		return r.fail("Expected character %c at position %d", c, r.at)
	}
	r.at++
	return nil
}

func (r *rfc) instant() (instant, *exception.Error) {
	var y, m, d int64
	m, d = 1, 1
	for i, part := range [...]*int64{&y, &m, &d} {
		digits := 2
		if i == 0 {
			digits = 4
		} else if err := r.literal('-'); err != nil {
			return instant{}, err
		}
		var err *exception.Error
		if *part, err = r.number(digits); err != nil || r.at == len(r.text) {
			return rfcInstant(y, m, d, 0, 0, 0, 0, 0, err)
		}
	}
	if c := r.text[r.at]; c != 'T' && c != 't' && c != ' ' {
		return instant{}, r.fail("Expected character [T, t,  ] at position %d", r.at)
	}
	r.at++
	h, err := r.number(2)
	if err == nil {
		err = r.literal(':')
	}
	var mi int64
	if err == nil {
		mi, err = r.number(2)
	}
	switch {
	case err != nil:
		return instant{}, err
	case r.at == len(r.text):
		return instant{}, r.fail("No timezone offset information")
	}
	var s, n, east int64
	if r.text[r.at] == ':' {
		r.at++
		s, n, err = r.seconds()
	} else if c := r.text[r.at]; c != '+' && c != '-' && c|0x20 != 'z' {
		err = r.fail("Unexpected character  at position %d", r.at)
	}
	if err == nil {
		east, err = r.offset()
	}
	return rfcInstant(y, m, d, h, mi, s, n, east, err)
}

// seconds reads seconds and their fraction, after which an offset must follow.
func (r *rfc) seconds() (s, n int64, err *exception.Error) {
	if s, err = r.number(2); err != nil {
		return 0, 0, err
	}
	if r.at == len(r.text) {
		return 0, 0, r.fail("No timezone offset information")
	}
	switch c := r.text[r.at]; {
	case c == '.' || c == ',':
	case c == '+' || c == '-' || c|0x20 == 'z' && r.at+1 == len(r.text):
		return s, 0, nil
	default:
		return 0, 0, r.fail("Unexpected character at position %d", r.at)
	}
	r.at++
	start, unit, digits := r.at, int64(1e9), int32(0)
	for ; r.at < len(r.text) && r.text[r.at]-'0' <= 9; r.at++ {
		digits = digits*10 + int32(r.text[r.at]-'0') // and over, as the server's does
		unit /= 10
	}
	switch {
	case r.at == len(r.text):
		return 0, 0, r.fail("No timezone offset information")
	case r.at == start:
		return 0, 0, r.fail("Must have at least 1 fraction digit")
	}
	return s, int64(digits) * max(unit, 1), nil
}

func (r *rfc) offset() (east int64, err *exception.Error) {
	start, left := r.at, len(r.text)-r.at
	c := r.text[r.at]
	if c|0x20 == 'z' {
		if left > 1 {
			return 0, r.fail("Trailing junk data after position %d", r.at+1)
		}
		return 0, nil
	}
	if left != 6 {
		return 0, r.fail("Invalid timezone offset")
	}
	r.at++
	h, err := r.number(2)
	if err == nil {
		err = r.literal(':')
	}
	if err != nil {
		return 0, err
	}
	m, err := r.number(2)
	switch {
	case err != nil:
		return 0, err
	case c == '-' && h == 0 && m == 0:
		return 0, r.fail("Unknown 'Local Offset Convention' date-time not allowed")
	case c != '-' && c != '+':
		return 0, r.fail("Invalid character starting at position %d", start)
	case h > 18:
		return 0, exception.New(exception.DateTime, "Zone offset hours not in valid range: value %d is not in the range -18 to 18", signed(c, h))
	case m > 59:
		return 0, exception.New(exception.DateTime, "Zone offset minutes not in valid range: value %d is not in the range -59 to 59", signed(c, m))
	case h == 18 && m > 0:
		return 0, wide
	}
	return signed(c, h*3600+m*60), nil
}

func signed(sign byte, value int64) int64 {
	if sign == '-' {
		return -value
	}
	return value
}

func rfcInstant(y, m, d, h, mi, s, n, east int64, err *exception.Error) (instant, *exception.Error) {
	if err != nil {
		return instant{}, err
	}
	for _, part := range [...]fieldValue{{month, m}, {day, d}} {
		if err := part.field.check(part.value); err != nil {
			return instant{}, err
		}
	}
	if err := exists(y, m, d); err != nil {
		return instant{}, err
	}
	for _, part := range [...]fieldValue{{hour, h}, {minute, mi}, {second, s}, {nano, n}} {
		if err := part.field.check(part.value); err != nil {
			return instant{}, err
		}
	}
	return instant{epochDay(y, m, d)*secondsOfDay + h*3600 + mi*60 + s - east, n}, nil
}
