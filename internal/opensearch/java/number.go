package java

import (
	"bytes"
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Double is f as Double.toString has it: "1.0", "1.0E10", "-0.001", "NaN", "-Infinity".
func Double(f float64) string { return string(AppendReal(nil, f, 64)) }

// Float is f as Float.toString has it.
func Float(f float32) string { return string(AppendReal(nil, float64(f), 32)) }

// AppendReal appends a double (bits 64) or a float (bits 32): always with a fraction,
// with an exponent from ten millions on and below a thousandth.
func AppendReal(dst []byte, f float64, bits int) []byte {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		if bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	return appendScientific(dst, f, bits)
}

// appendScientific is AppendReal's form with an exponent. Java chooses among
// decimals of at least two digits, which matters for the smallest numbers only:
// 4.9E-324 where one digit would say 5e-324.
func appendScientific(dst []byte, f float64, bits int) []byte {
	var space [32]byte
	text := strconv.AppendFloat(space[:0], f, 'e', -1, bits)
	if bytes.IndexByte(text, '.') < 0 {
		var other [32]byte
		two := strconv.AppendFloat(other[:0], f, 'e', 1, bits)
		if back, err := strconv.ParseFloat(string(two), bits); err == nil && back == f {
			text = append(text[:0], two...)
		}
	}
	e := bytes.IndexByte(text, 'e')
	dst = append(dst, text[:e]...)
	if bytes.IndexByte(text[:e], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	if text[e+1] == '-' {
		dst = append(dst, '-')
	}
	return append(dst, bytes.TrimLeft(text[e+2:], "0")...)
}

// Long is v as a long, as Java casts a double: the fraction is cut off, what is beyond the range is the
// end of it, and what is no number is 0.
func Long(v float64) int64 {
	switch {
	case math.IsNaN(v):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// Int reads a number as Integer.parseInt does. Its error is the server's.
func Int(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, exception.NotNumber(text)
	}
	return int(n), nil
}
