package java

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Decimal is a pattern of java.text.DecimalFormat with the symbols of the root locale:
// "0.00", "#,##0.##", "0.0E0", "00%". Numbers are rounded half to even. Immutable.
// Patterns with an exponent and no 0 at all (#E0) differ from Java's.
type Decimal struct {
	positive, negative affixes
	least, most        int // digits before the point; most only with an exponent
	fraction, optional int // digits behind it: at least, at most
	group              int // digits between commas; 0: none
	exponent           int // its digits; 0: none
	shift              int // 2 for percent, 3 for per mille
	point              bool
}

type affixes struct{ before, after string }

// ParseDecimal reads a pattern. What is wrong is told in Java's words, without a type.
func ParseDecimal(pattern string) (*Decimal, string) {
	d := &Decimal{}
	if pattern == "" { // all digits there are
		return &Decimal{negative: affixes{before: "-"}, group: 3, optional: 340}, ""
	}
	first, second, hasSecond := cutPattern(pattern)
	if _, _, more := cutPattern(second); more {
		return nil, "Unquoted special character ';' in pattern \"" + pattern + `"`
	}
	if strings.Count(pattern, "'")%2 != 0 {
		return nil, `Malformed pattern "` + pattern + `"`
	}
	body, aff := d.split(first)
	d.positive, d.negative = aff, affixes{"-" + aff.before, aff.after}
	if mistake := d.digits(body, pattern); mistake != "" {
		return nil, mistake
	}
	if hasSecond {
		if _, aff := d.split(second); aff != d.positive {
			d.negative = aff
		}
	}
	return d, ""
}

// cutPattern parts a pattern at the semicolon that is not quoted.
func cutPattern(pattern string) (first, second string, found bool) {
	quoted := false
	for i := range len(pattern) {
		switch {
		case pattern[i] == '\'':
			quoted = !quoted
		case pattern[i] == ';' && !quoted:
			return pattern[:i], pattern[i+1:], true
		}
	}
	return pattern, "", false
}

// split takes the part of the digits out of a pattern.
func (d *Decimal) split(pattern string) (body string, a affixes) {
	var before, after, digits strings.Builder
	quoted, phase := false, 0
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		out := &before
		if phase > 0 {
			out = &after
		}
		switch {
		case c == '\'' && i+1 < len(pattern) && pattern[i+1] == '\'':
			out.WriteByte(c)
			i++
		case c == '\'':
			quoted = !quoted
		case quoted:
			out.WriteByte(c)
		case phase < 2 && strings.IndexByte("#0,.", c) >= 0, phase == 1 && c == 'E':
			phase = 1
			digits.WriteByte(c)
		default:
			phase *= 2 // behind the digits
			if phase > 0 {
				phase, out = 2, &after
			}
			switch {
			case c == '%':
				d.shift = 2
			case strings.HasPrefix(pattern[i:], "‰"):
				d.shift = 3
			}
			out.WriteByte(c)
		}
	}
	return digits.String(), affixes{before.String(), after.String()}
}

// digits reads the part of the digits.
func (d *Decimal) digits(body, pattern string) (mistake string) {
	mantissa, exponent, scientific := strings.Cut(body, "E")
	whole, fraction, point := strings.Cut(mantissa, ".")
	if d.exponent = len(exponent); scientific && (strings.Trim(exponent, "0") != "" || exponent == "") {
		return `Malformed exponential pattern "` + pattern + `"`
	}
	if strings.ContainsAny(fraction, ".") {
		return `Multiple decimal separators in pattern "` + pattern + `"`
	}
	if comma := strings.LastIndexByte(whole, ','); comma >= 0 {
		if d.group = len(whole) - comma - 1; d.group == 0 {
			return `Malformed pattern "` + pattern + `"`
		}
		whole = strings.ReplaceAll(whole, ",", "")
	}
	zeros := strings.TrimLeft(whole, "#")
	if strings.Trim(zeros, "0") != "" {
		return `Malformed pattern "` + pattern + `"`
	}
	required := strings.TrimRight(fraction, "#")
	if strings.Trim(required, "0") != "" {
		return `Unexpected '0' in pattern "` + pattern + `"`
	}
	d.least, d.most, d.fraction, d.optional = len(zeros), len(whole), len(required), len(fraction)
	if d.least == 0 && d.fraction == 0 && point { // some digit there must be
		if whole != "" {
			d.least = 1
		} else {
			d.fraction = min(1, d.optional)
		}
	}
	d.point = point && fraction == ""
	return ""
}

// AppendDouble appends a number as the pattern has it.
func (d *Decimal) AppendDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(dst, "NaN"...)
	}
	a := d.positive
	if math.Signbit(f) {
		a = d.negative
	}
	f = math.Abs(f)
	dst = append(dst, a.before...)
	switch {
	case math.IsInf(f, 0):
		dst = append(dst, "∞"...)
	case d.exponent > 0:
		dst = d.appendScientific(dst, f)
	default:
		dst = d.appendPlain(dst, f)
	}
	dst = append(dst, a.after...)
	return dst
}

// AppendLong is AppendDouble of a whole number, exactly.
func (d *Decimal) AppendLong(dst []byte, n int64) []byte {
	if d.exponent > 0 || d.shift > 0 && n < 1<<62 || n > -1<<53 && n < 1<<53 {
		return d.AppendDouble(dst, float64(n))
	}
	a, text := d.positive, strconv.FormatInt(n, 10)
	if n < 0 {
		a, text = d.negative, text[1:]
	}
	dst = append(dst, a.before...)
	dst = d.appendWhole(dst, text)
	if d.fraction > 0 || d.point {
		dst = append(append(dst, '.'), strings.Repeat("0", d.fraction)...)
	}
	return append(dst, a.after...)
}

func (d *Decimal) appendPlain(dst []byte, f float64) []byte {
	text := decimalText(f*math.Pow10(d.shift), d.optional)
	whole, fraction, _ := strings.Cut(text, ".")
	for len(fraction) > d.fraction && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" && fraction == "" && d.least == 0 {
		whole = "0"
	}
	dst = d.appendWhole(dst, whole)
	if fraction != "" || d.point {
		dst = append(dst, '.')
	}
	return append(dst, fraction...)
}

// decimalText is f with so many digits behind the point. Java rounds only where the
// shortest decimal of f has more.
func decimalText(f float64, digits int) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > digits {
		return strconv.FormatFloat(f, 'f', digits, 64)
	}
	return whole + "." + fraction + strings.Repeat("0", digits-len(fraction))
}

// appendWhole appends the digits before the point, with zeros and commas.
func (d *Decimal) appendWhole(dst []byte, digits string) []byte {
	if n := d.least - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	for i := range len(digits) {
		if left := len(digits) - i; i > 0 && d.group > 0 && left%d.group == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, digits[i])
	}
	return dst
}

// appendScientific: where more digits are possible before the point than must be there,
// the exponent is a multiple of how many; else as many are there as must be.
func (d *Decimal) appendScientific(dst []byte, f float64) []byte {
	exponent := 0
	if f != 0 {
		text := strconv.FormatFloat(f, 'e', -1, 64)
		exponent, _ = strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	}
	before := d.least
	if d.most > d.least && d.most > 1 {
		before = ((exponent%d.most)+d.most)%d.most + 1
	} else if before == 0 {
		before = 1
		if d.fraction > 0 || d.optional > 0 {
			before = 0
		}
	}
	digits := before + d.optional
	if d.most > d.least && d.most > 1 {
		digits = d.most + d.optional
	}
	text := strconv.FormatFloat(f, 'e', max(digits-1, 0), 64)
	e := strings.IndexByte(text, 'e')
	if f != 0 {
		exponent, _ = strconv.Atoi(text[e+1:])
	}
	mantissa := []byte(strings.Replace(text[:e], ".", "", 1))
	for len(mantissa) < before {
		mantissa = append(mantissa, '0')
	}
	fraction := mantissa[before:]
	for len(fraction) > d.fraction && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	dst = append(dst, mantissa[:before]...)
	if len(fraction) > 0 || d.point {
		dst = append(append(dst, '.'), fraction...)
	}
	dst = append(dst, 'E')
	if exponent -= before - 1; f == 0 {
		exponent = 0
	}
	if exponent < 0 {
		dst, exponent = append(dst, '-'), -exponent
	}
	number := strconv.Itoa(exponent)
	dst = append(dst, slices.Repeat([]byte("0"), max(d.exponent-len(number), 0))...)
	return append(dst, number...)
}
