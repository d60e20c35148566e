package mapping

import (
	"math/big"
	"net/netip"
	"strconv"

	"github.com/reshelve/reshelve/exception"
	json "github.com/reshelve/reshelve/token"
)

// readNumber reads a number of any numeric type.
func readNumber(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return w.nothing(f)
	}
	v, err := parseNumber(f, t)
	if err != nil {
		if f.ignoreMalformed.or(w.limits.IgnoreMalformed) && t.kind.IsScalar() {
			return nil
		}
		return err
	}
	w.emit(f, v)
	return nil
}

func parseNumber(f *Field, t token) (Value, error) {
	if !t.kind.IsScalar() || t.kind == json.True || t.kind == json.False {
		return Value{}, exception.New(exception.JSONParse, "Current token (%s) not numeric, can not use numeric value accessors", exactKind(t.kind))
	}
	switch f.kind.name {
	case "float", "double", "half_float", "scaled_float":
		v, err := strconv.ParseFloat(string(t.text), 64)
		if err != nil {
			return Value{}, noNumber(string(t.text))
		}
		return Value{Kind: Real, Float: v}, nil
	}
	n, ok := new(big.Int).SetString(string(t.text), 10)
	if !ok {
		return Value{}, noNumber(string(t.text))
	}
	if f.kind.name == "unsigned_long" {
		return Value{Kind: Unsigned, Low: int64(n.Uint64())}, nil
	}
	return Value{Kind: Integer, Low: n.Int64()}, nil
}

func readLoose(f *Field, v any) (Value, error) {
	t := token{json.String, []byte(javaText(v))}
	return parseNumber(f, t)
}

func readDate(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return w.nothing(f)
	}
	v, err := parseNullDate(f, string(t.text))
	if err != nil {
		return err
	}
	w.emit(f, v)
	return nil
}

func parseNullDate(f *Field, text string) (Value, error) {
	millis, _, err := f.format.Parse(text)
	return Value{Kind: Instant, Low: millis}, err
}

func readIP(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return w.nothing(f)
	}
	v, err := parseNullIP(string(t.text))
	if err != nil {
		return err
	}
	w.emit(f, v)
	return nil
}

func parseNullIP(text string) (Value, error) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return Value{}, exception.New(exception.IllegalArgument, "'%s' is not an IP string literal.", text)
	}
	b := a.As16()
	return Value{Kind: Address, Bytes: b[:]}, nil
}

func readBinary(w *walk, f *Field, t token) error { return nil }
func readGeo(w *walk, f *Field, t token) error    { return nil }
func readRange(w *walk, f *Field, t token) error  { return nil }

func readNullPoint(_ *reading, _ *Field, _ string, v any) (any, error) { return point{}, nil }
