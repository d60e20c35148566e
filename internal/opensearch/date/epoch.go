package date

import (
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// The formats epoch_millis and epoch_second: a number with an optional fraction
// down to the nanosecond. A dot may end it.

// epochMillis reads -1577836800000.123456. At is exact to the nanosecond; with
// roundUp a number without fraction means the last nanosecond of its
// millisecond.
func epochMillis(text string, roundUp bool) (seconds, nanos int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	millis, rest, ok := leadingNumber(text)
	if !ok {
		return 0, 0, false
	}
	part, fractional, ok := epochFraction(rest, 6)
	if !ok {
		return 0, 0, false
	}
	if roundUp && !fractional {
		part = 999_999
	}
	seconds, nanos = millis/1000, millis%1000*1e6+part
	if negative && nanos != 0 {
		return -seconds - 1, 1e9 - nanos, true
	}
	if negative {
		seconds = -seconds
	}
	return seconds, nanos, true
}

// epochSecond reads -1577836800.123456789; a negative number counts its fraction
// upwards. With roundUp a number without fraction means the last nanosecond of
// its second.
func epochSecond(text string, roundUp bool) (seconds, nanos int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	seconds, rest, ok := leadingNumber(text)
	if !ok || negative && seconds == 0 {
		return 0, 0, false
	}
	nanos, fractional, ok := epochFraction(rest, 9)
	if roundUp && !fractional {
		nanos = 999_999_999
	}
	if negative {
		seconds = -seconds
	}
	return seconds, nanos, ok
}

// leadingNumber reads one to 19 digits that fit.
func leadingNumber(text string) (n int64, rest string, ok bool) {
	i := 0
	for ; i < len(text) && i < 19 && text[i]-'0' <= 9; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	return n, text[i:], i > 0 && n >= 0
}

// epochFraction reads what follows the number: nothing, a dot, or a dot and up
// to width digits.
func epochFraction(text string, width int) (value int64, given, ok bool) {
	if text == "" {
		return 0, false, true
	}
	if text[0] != '.' || len(text)-1 > width {
		return 0, false, false
	}
	for i := 1; i <= width; i++ {
		value *= 10
		if i < len(text) {
			if text[i]-'0' > 9 {
				return 0, false, false
			}
			value += int64(text[i] - '0')
		}
	}
	return value, len(text) > 1, true
}

// appendEpoch writes an instant as a number of units, of which a second has
// perSecond, with the fraction that it needs.
func appendEpoch(out []byte, seconds, nanos, perSecond int64, width int) []byte {
	unit := int64(1e9) / perSecond
	if perSecond == 1 { // the fraction counts upwards also before 1970
		return appendFraction(strconv.AppendInt(out, seconds, 10), nanos, width, 0)
	}
	if seconds < 0 {
		out = append(out, '-')
		seconds, nanos = -seconds, -nanos
		if nanos < 0 {
			seconds, nanos = seconds-1, nanos+1e9
		}
	}
	out = strconv.AppendInt(out, seconds*perSecond+nanos/unit, 10)
	return appendFraction(out, nanos%unit, width, 0)
}

// appendFraction writes a dot and value, which has width digits, without the
// zeros at its end, but at least least of them; nothing if none are left.
func appendFraction(out []byte, value int64, width, least int) []byte {
	if value == 0 && least == 0 {
		return out
	}
	out = append(out, '.')
	start := len(out)
	for unit := pow10(width - 1); unit > 0; unit /= 10 {
		out = append(out, byte('0'+value/unit%10))
	}
	for len(out)-start > least && out[len(out)-1] == '0' {
		out = out[:len(out)-1]
	}
	return out
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// lastSecond bounds java.time's instants, about a billion years from 1970.
const lastSecond = 31556889864403199

// beyond is what the server says of seconds that are no instant.
func beyond(text string) *exception.Error {
	seconds, nanos, ok := epochSecond(text, false)
	if !ok || seconds <= lastSecond && seconds >= -lastSecond {
		return nil
	}
	return exception.New(exception.DateTime, "Unable to obtain Instant from TemporalAccessor: {InstantSeconds=%d, NanoOfSecond=%d, MicroOfSecond=%d, MilliOfSecond=%d},ISO of type java.time.format.Parsed",
		seconds, nanos, nanos/1000, nanos/1_000_000).CausedBy(exception.New(exception.DateTime, "Instant exceeds minimum or maximum instant"))
}
