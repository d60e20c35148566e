package mapping

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unicode"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// parseDouble reads a real number as Java does, of 64 or 32 bits: blanks around
// it, a letter f or d behind it, hexadecimal digits with an exponent, NaN and
// Infinity are all allowed. What is too large is infinite.
func parseDouble(text []byte, bits int) (float64, *exception.Error) {
	text = bytes.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if len(text) == 0 {
		return 0, exception.New(exception.NumberFormat, "empty String")
	}
	number := text
	if c := number[0]; c == '+' || c == '-' {
		number = number[1:]
	}
	switch {
	case string(number) == "NaN":
		return math.NaN(), nil
	case string(number) == "Infinity":
		return math.Inf(1 - 2*bool2int(text[0] == '-')), nil
	}
	digits := text
	if last := len(digits) - 1; last > 0 && bytes.IndexByte([]byte("fFdD"), digits[last]) >= 0 {
		digits = digits[:last]
	}
	if !isDecimal(digits) && !isHexadecimal(digits) {
		return 0, noDouble(text, number)
	}
	f, _ := strconv.ParseFloat(string(digits), bits) // infinite beyond the range
	return f, nil
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// noDouble tells of two points before any other fault.
func noDouble(text, number []byte) *exception.Error {
	points := 0
	for _, c := range number {
		if c == '.' {
			points++
		} else if c-'0' > 9 {
			break
		}
	}
	if points > 1 {
		return exception.New(exception.NumberFormat, "multiple points")
	}
	return exception.NotNumber(string(text))
}

// decimal is a number in decimal digits, taken apart.
type decimal struct {
	negative        bool
	whole, fraction []byte
	exponent        int
}

// parseDecimal reads an optional sign, digits with an optional point, and an
// optional exponent of up to ten digits that fits 32 bits.
func parseDecimal(text []byte) (d decimal, ok bool) {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		d.negative = text[0] == '-'
		text = text[1:]
	}
	d.whole, text = digitsOf(text)
	if len(text) > 0 && text[0] == '.' {
		d.fraction, text = digitsOf(text[1:])
	}
	if len(d.whole)+len(d.fraction) == 0 {
		return d, false
	}
	if len(text) == 0 {
		return d, true
	}
	if text[0]|0x20 != 'e' {
		return d, false
	}
	exponent, err := strconv.ParseInt(string(text[1:]), 10, 32)
	d.exponent = int(exponent)
	return d, err == nil
}

func digitsOf(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return text[:i], text[i:]
}

// isDecimal is parseDecimal for reals, whose exponent may have any size.
func isDecimal(text []byte) bool {
	if i := bytes.LastIndexAny(text, "eE"); i > 0 {
		exponent := text[i+1:]
		if len(exponent) > 0 && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if digits, rest := digitsOf(exponent); len(digits) == 0 || len(rest) > 0 {
			return false
		}
		text = text[:i]
	}
	_, ok := parseDecimal(text)
	return ok
}

// isHexadecimal: 0x, digits with an optional point, p and an exponent.
func isHexadecimal(text []byte) bool {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	if len(text) < 2 || text[0] != '0' || text[1]|0x20 != 'x' || bytes.IndexByte(text, '_') >= 0 {
		return false
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil || bytes.ContainsAny(text, "pP") && errors.Is(err, strconv.ErrRange)
}

// integer is the part before the point as 64 bits without sign; fits is false if
// there are more.
func (d decimal) integer() (value uint64, fits bool) {
	digits := len(d.whole) + d.exponent // of the integer
	for i := 0; i < digits; i++ {
		digit := uint64(0)
		switch {
		case i < len(d.whole):
			digit = uint64(d.whole[i] - '0')
		case i < len(d.whole)+len(d.fraction):
			digit = uint64(d.fraction[i-len(d.whole)] - '0')
		case value == 0:
			return 0, true // nothing but zeros follow
		}
		if value > (math.MaxUint64-digit)/10 {
			return 0, false
		}
		value = value*10 + digit
	}
	return value, true
}

// text is the integer in all its digits, for messages.
func (d decimal) text() string {
	var out []byte
	for i := 0; i < len(d.whole)+d.exponent; i++ {
		switch {
		case i < len(d.whole):
			out = append(out, d.whole[i])
		case i < len(d.whole)+len(d.fraction):
			out = append(out, d.fraction[i-len(d.whole)])
		default:
			out = append(out, '0')
		}
	}
	out = bytes.TrimLeft(out, "0")
	if len(out) == 0 {
		return "0"
	}
	if d.negative {
		return "-" + string(out)
	}
	return string(out)
}

// asciiDigits writes the decimal digits of any script as those of ASCII. In each
// the ten begin at the start of a row of sixteen characters, or at its seventh.
func asciiDigits(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < 0x80 || r > 0xffff || !unicode.Is(unicode.Nd, r) {
			return r
		}
		if row := r &^ 15; unicode.Is(unicode.Nd, row) {
			return '0' + r - row
		}
		return '0' + r&15 - 6
	}, text)
}
