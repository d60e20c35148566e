package mapping

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// width is what is known of a type of whole numbers.
type width struct {
	class     string // that of Java, which messages name
	name      string // the primitive one, with its article
	low, high int64
}

var (
	shorts = width{"Short", "a short", math.MinInt16, math.MaxInt16}
	ints   = width{"Integer", "an integer", math.MinInt32, math.MaxInt32}
	longs  = width{"Long", "a long", math.MinInt64, math.MaxInt64}
)

// numberValue reads a number of a numeric type. Scaled is the scaling_factor of
// scaled_float. A value without kind [Integer], [Unsigned] or [Real], none, is
// the empty text, which coercion takes for null. Null is the caller's.
func numberValue(kind string, t token, coerce bool, p place) (v Value, none bool, err *exception.Error) {
	if t.kind == json.String && coerce && len(t.text) == 0 {
		return Value{}, true, nil
	}
	switch kind {
	case "byte":
		v.Low, err = wholeValue(&ints, t, coerce, p)
		if err == nil && v.Low != int64(int8(v.Low)) {
			err = exception.New(exception.IllegalArgument, "Value [%d] is out of range for a byte", v.Low)
		}
	case "short":
		v.Low, err = wholeValue(&shorts, t, coerce, p)
	case "integer":
		v.Low, err = wholeValue(&ints, t, coerce, p)
	case "long":
		v.Low, err = wholeValue(&longs, t, coerce, p)
	case "unsigned_long":
		v, err = unsignedValue(t, coerce, p)
		return v, false, err
	default:
		v, err = realValue(kind, t, coerce, p)
		return v, false, err
	}
	v.Kind = Integer
	return v, false, err
}

// wholeValue reads a number whose fraction coercion cuts off.
func wholeValue(w *width, t token, coerce bool, p place) (int64, *exception.Error) {
	switch t.kind {
	case json.String:
		if !coerce {
			return 0, passedAsString(w.class)
		}
		if w == &longs {
			return longText(t.text)
		}
		f, err := parseDouble(t.text, 64)
		if err == nil && (f < float64(w.low) || f > float64(w.high)) {
			err = outOfRange(t.text, w.name)
		}
		if err != nil || math.IsNaN(f) {
			return 0, err
		}
		return int64(f), nil
	case json.Integer:
		n, ok := parseLong(t.text)
		if !ok || n < w.low || n > w.high {
			return 0, overflow(w, n, ok, t.text, p)
		}
		return n, nil
	case json.Float:
		return wholeOfFraction(w, t.text, coerce, p)
	}
	return 0, p.refuse(exception.JSONParse, "Current token (%s) not numeric, can not use numeric value accessors", kindName(t.kind))
}

func wholeOfFraction(w *width, text []byte, coerce bool, p place) (int64, *exception.Error) {
	f, _ := strconv.ParseFloat(string(text), 64)
	low, high := float64(w.low), float64(w.high)
	if f < low || f > high {
		return 0, overflow(w, int64(min(max(f, math.MinInt64), math.MaxInt64/2)), f >= math.MinInt32 && f <= math.MaxInt32, text, p)
	}
	n := int64(math.MaxInt64)
	if f < high || w != &longs {
		n = int64(f)
	}
	if !coerce && float64(n) != f {
		return 0, lossy(f, w.class)
	}
	return n, nil
}

// overflow is a JSON number that is out of range. Shorts are read as integers
// first.
func overflow(w *width, n int64, known bool, text []byte, p place) *exception.Error {
	number := quoteNumber(text)
	switch {
	case w == &longs:
		return p.refuse(exception.InputCoercion, "Numeric value (%s) out of range of long (-9223372036854775808 - 9223372036854775807)", number)
	case w == &shorts && known && n == int64(int32(n)):
		return p.refuse(exception.InputCoercion, "Numeric value (%s) out of range of Java short", number)
	}
	return p.refuse(exception.InputCoercion, "Numeric value (%s) out of range of int (-2147483648 - 2147483647)", number)
}

// quoteNumber leaves out the digits of very long numbers.
func quoteNumber(text []byte) string {
	if len(text) < 1000 {
		return string(text)
	}
	return "[number with " + strconv.Itoa(len(text)) + " characters]"
}

func passedAsString(class string) *exception.Error {
	return exception.New(exception.IllegalArgument, "%s value passed as String", class)
}

func outOfRange(text []byte, name string) *exception.Error {
	return exception.New(exception.IllegalArgument, "Value [%s] is out of range for %s", text, name)
}

func lossy(f float64, class string) *exception.Error {
	return exception.New(exception.IllegalArgument, "%s cannot be converted to %s without data loss", java.Double(f), class)
}

// parseLong reads digits with an optional minus.
func parseLong(text []byte) (n int64, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 18 || len(digits) == 0 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		return n, err == nil
	}
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// longText reads the text of a long: the digits of any script, a fraction that
// is cut off, an exponent, no blanks.
func longText(text []byte) (int64, *exception.Error) {
	d, err := decimalText(text)
	if err != nil {
		return 0, err
	}
	value, fits := d.integer()
	switch {
	case fits && d.negative && value <= 1<<63:
		return -int64(value), nil
	case fits && !d.negative && value <= math.MaxInt64:
		return int64(value), nil
	}
	return 0, outOfRange(text, longs.name)
}

func decimalText(text []byte) (decimal, *exception.Error) {
	digits := text
	if !ascii(text) {
		digits = asciiDigits(text)
	}
	d, ok := parseDecimal(digits)
	if !ok {
		return d, exception.New(exception.IllegalArgument, "For input string: \"%s\"", text)
	}
	return d, nil
}

func ascii(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unsignedValue reads an unsigned_long.
func unsignedValue(t token, coerce bool, p place) (Value, *exception.Error) {
	var d decimal
	var err *exception.Error
	switch t.kind {
	case json.String:
		if !coerce {
			return Value{}, passedAsString("BigInteger")
		}
		if d, err = decimalText(t.text); err != nil {
			return Value{}, err
		}
	case json.Integer, json.Float:
		d, _ = parseDecimal(t.text)
		if f, _ := strconv.ParseFloat(string(t.text), 64); t.kind == json.Float && !coerce && math.Trunc(f) != f {
			return Value{}, lossy(f, "BigInteger")
		}
	default:
		return Value{}, p.refuse(exception.JSONParse, "Current token (%s) not numeric, can not use numeric value accessors", kindName(t.kind))
	}
	value, fits := d.integer()
	if fits && (!d.negative || value == 0) {
		return Value{Kind: Unsigned, Low: int64(value)}, nil
	}
	const longest = 646456993 // digits of Java's largest integers; ours are told up to a million
	text := string(t.text)
	switch {
	case t.kind == json.String:
	case d.exponent > longest:
		return Value{}, exception.New(exception.Arithmetic, "BigInteger would overflow supported range")
	case d.exponent <= 1_000_000:
		text = d.text()
	}
	return Value{}, exception.New(exception.IllegalArgument, "Value [%s] is out of range for an unsigned long", text)
}

// realValue reads a number with a fraction, rounded to what the type holds.
func realValue(kind string, t token, coerce bool, p place) (Value, *exception.Error) {
	bits, class := 64, "Double"
	if kind == "float" || kind == "half_float" {
		bits, class = 32, "Float"
	}
	var f float64
	var err *exception.Error
	switch t.kind {
	case json.String:
		if !coerce {
			return Value{}, passedAsString(class)
		}
		if f, err = parseDouble(t.text, bits); err != nil {
			return Value{}, err
		}
	case json.Integer, json.Float:
		f, _ = strconv.ParseFloat(string(t.text), 64)
	default:
		return Value{}, p.refuse(exception.JSONParse, "Current token (%s) not numeric, can not use numeric value accessors", kindName(t.kind))
	}
	if t.kind == json.Integer && f == 0 {
		f = 0 // -0 is a whole number
	}
	if bits == 32 {
		f = float64(float32(f))
	}
	held := f
	if kind == "half_float" {
		held = half(float32(f))
	}
	if math.IsInf(held, 0) || math.IsNaN(held) {
		return Value{}, notFinite(kind, f, bits)
	}
	return Value{Kind: Real, Float: held, FloatHigh: f}, nil
}

func notFinite(kind string, f float64, bits int) *exception.Error {
	supports := "supports only"
	if kind == "scaled_float" {
		supports = "only supports"
	}
	return exception.New(exception.IllegalArgument, "[%s] %s finite values, but got [%s]", kind, supports, java.AppendReal(nil, f, bits))
}

// half rounds to the nearest number of 16 bits, IEEE 754's binary16, and to the
// even one of two; beyond the largest it is infinite.
func half(f float32) float64 {
	v := float64(f)
	abs := math.Abs(v)
	if abs >= 65520 || math.IsNaN(v) {
		return math.Copysign(math.Inf(1), v) + v - v
	}
	exponent := -14 // subnormal
	if abs >= 1.0/(1<<14) {
		exponent = math.Ilogb(abs)
	}
	unit := math.Ldexp(1, exponent-10)
	return math.Copysign(math.RoundToEven(abs/unit)*unit, v)
}
