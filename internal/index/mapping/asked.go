package mapping

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// AskedText is a scalar of a query as the server prints it after reading it: numbers
// lose what a number of Java does not keep ("-0", "1e3" is "1000.0"). Kind is that of the
// literal, text the literal or the content of a string.
func AskedText(kind json.Kind, text string) string {
	switch kind {
	case json.Float:
		f, _ := strconv.ParseFloat(text, 64)
		return java.Double(f)
	case json.Integer:
		if text == "-0" {
			return "0"
		}
	}
	return text
}

// AskedNumber reads a scalar of a query for a numeric type: more leniently than one of a
// document. Cut is the fraction that types of whole numbers cut off, with its sign; NaN
// of NaN and infinity. When it is not 0, err may be of what is left. FloatHigh of a real
// number is the number of 64 or 32 bits, not rounded to 16 bits, nor refused for not being
// finite. Errors are number_format_exception and illegal_argument_exception.
func AskedNumber(typ string, kind json.Kind, text string) (v Value, cut float64, err error) {
	var e *exception.Error
	asked := AskedText(kind, text)
	if _, whole := wholes[typ]; whole {
		v, cut, e = askedWhole(typ, kind, asked)
	} else {
		v, e = askedReal(typ, kind, asked)
	}
	if e != nil {
		return v, cut, e
	}
	return v, cut, nil
}

func askedWhole(name string, kind json.Kind, asked string) (v Value, cut float64, err *exception.Error) {
	real, err := parseDouble([]byte(asked), 64)
	if err != nil {
		return v, 0, err
	}
	cut = real - math.Trunc(real) // NaN when there is no such number
	bounds := wholes[name]
	if name == "byte" || name == "short" { // which the server reads as integers
		bounds = wholes["integer"]
	}
	if n, ok := parseLong([]byte(asked)); ok && name == "unsigned_long" && kind == json.Integer && n < math.MinInt32 {
		return Value{Kind: Unsigned, Low: n}, 0, nil // the server takes a long of Java, which has no sign here
	}
	if real < bounds.low || real > bounds.high {
		return v, cut, exception.New(exception.IllegalArgument, "Value [%s] is out of range for %s", QuoteAsked(kind, asked), bounds.name)
	}
	switch name {
	case "long":
		v.Kind = Integer
		v.Low, err = longText([]byte(asked))
	case "unsigned_long":
		v, err = unsignedValue(token{json.String, []byte(asked)}, true, place{})
	default:
		v = Value{Kind: Integer}
		if !math.IsNaN(real) {
			v.Low = int64(real)
		}
	}
	return v, cut, err
}

// QuoteAsked is a scalar of a query in a message: the server prints texts, and integers
// of more than 64 bits, as bytes.
func QuoteAsked(kind json.Kind, text string) string {
	if kind == json.Integer {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return text
		}
	}
	if kind == json.Float {
		return text
	}
	return fmt.Sprintf("[% x]", text)
}

func askedReal(name string, kind json.Kind, asked string) (Value, *exception.Error) {
	t := token{json.String, []byte(asked)}
	if kind == json.Float || kind == json.Integer {
		t.kind = json.Float // rounded to 64 bits first
		if _, err := strconv.ParseInt(asked, 10, 64); err != nil && kind == json.Integer {
			t.kind = json.String
		}
	}
	f, err := parseDouble(t.text, 64)
	if name != "scaled_float" {
		v, err := realValue(name, t, true, place{})
		if v.FloatHigh = f; name != "double" {
			v.FloatHigh = float64(float32(f))
		}
		return v, err
	}
	switch text := java.Double(f); {
	case err != nil:
		return Value{}, err
	case math.IsNaN(f) || math.IsInf(f, 0):
		return Value{}, exception.New(exception.NumberFormat,
			"Character %c is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.", strings.TrimPrefix(text, "-")[0])
	}
	return Value{Kind: Real, Float: f}, nil
}

// Scaled multiplies the decimals of a number of a query with the scaling factor of a
// scaled_float, rounded once.
func (f *Field) Scaled(v float64) float64 {
	number, factor := new(big.Rat).SetFloat64(0), new(big.Rat)
	if _, ok := number.SetString(strconv.FormatFloat(v, 'g', -1, 64)); !ok {
		return v * f.scaling
	}
	if _, ok := factor.SetString(strconv.FormatFloat(f.scaling, 'g', -1, 64)); !ok {
		return v * f.scaling
	}
	scaled, _ := number.Mul(number, factor).Float64()
	return scaled
}

// ParseAddress reads an IP address into 16 bytes; IPv4 is mapped into IPv6.
func ParseAddress(text string) ([16]byte, error) {
	var a address
	if !parseAddress([]byte(text), &a) {
		return a, noAddress([]byte(text))
	}
	return a, nil
}

// ParsePrefix reads an address and the number of bits that those of a net share: its
// first and last address.
func ParsePrefix(text string) (low, high [16]byte, err error) {
	var l, h address
	if e := parsePrefix([]byte(text), &l, &h); e != nil {
		return l, h, e
	}
	return l, h, nil
}

// HalfFloat is the number of 16 bits next to f; infinite beyond the largest.
func HalfFloat(f float32) float64 { return half(f) }

// On is a parameter that is a boolean (store, norms, fielddata,
// split_queries_on_whitespace, …), with its default; false for types without it.
func (f *Field) On(param string) bool { return f.flag(param) }

// Count is a parameter that is a whole number (position_increment_gap, ignore_above),
// with its default; 0 for types without it.
func (f *Field) Count(param string) int64 {
	if i := f.kind.index(param); i >= 0 {
		n, _ := f.param(i).(int64)
		return n
	}
	return 0
}
