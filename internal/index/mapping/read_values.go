package mapping

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// malformed reports whether a value that f cannot take is passed over.
func (w *walk) malformed(f *Field, t token) bool {
	if f.kind.name == "unsigned_long" && t.kind != json.String {
		return false // the server reads these numbers too late to pass over them
	}
	return t.kind.IsScalar() && f.ignoreMalformed.or(w.limits.IgnoreMalformed)
}

// ignored tells of a value that was passed over.
func (w *walk) ignored(f *Field) {
	if sink, ok := w.sink.(Ignorer); ok {
		sink.Ignored(f)
	}
}

// readNumber reads a number of any numeric type.
func readNumber(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return w.nothing(f)
	}
	v, none, err := numberValue(f.kind.name, t, f.coerce.or(w.limits.Coerce), w.here())
	switch {
	case none:
		return w.nothing(f)
	case err == nil:
		w.emit(f, v)
	case f.kind.name == "scaled_float" && (w.malformed(f, t) || f.ignoreMalformed == yes): // which tells nobody
	case w.malformed(f, t):
		w.ignored(f)
	default:
		return err
	}
	return nil
}

func readDate(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return w.nothing(f)
	}
	v, err := dateValue(f.format, t, f.kind.name == "date_nanos", w.here())
	switch {
	case err == nil:
		w.emit(f, v)
	case !w.malformed(f, t):
		return err
	default:
		w.ignored(f)
	}
	return nil
}

// readBinary reads bytes in base 64. Where they are neither stored nor kept as
// doc values they are not even looked at: the value is the text.
func readBinary(w *walk, f *Field, t token) error {
	switch unseen := !f.flag("store") && !f.DocValues(); {
	case unseen && !t.kind.IsScalar():
		return exception.New(exception.IllegalArgument, "Malformed content, found extra data after parsing: END_OBJECT")
	case t.kind == json.Null:
		return nil
	case unseen:
		w.emit(f, Value{Kind: Text, Bytes: t.text})
		return nil
	}
	v, rest, err := binaryValue(w.scratch[:0], t, w.here())
	if err != nil {
		w.preview = restOf(t, rest, w.here())
		return err
	}
	w.scratch = v.Bytes
	w.emit(f, v)
	return nil
}

// restOf is what is left of a text when the server quotes it.
func restOf(t token, rest int, p place) *string {
	if t.kind != json.String {
		return nil
	}
	var text string
	if rest <= len(t.text) {
		text = string(t.text[rest:])
	} else { // it takes what comes next for the rest, up to a quote
		behind := p.source[p.end():]
		end := bytes.IndexByte(behind, '"')
		if end < 0 {
			return &noPreview
		}
		text = string(behind[:end])
	}
	if !utf8.ValidString(text) {
		return &noPreview
	}
	return &text
}

// noPreview stands for a value of which the server can quote nothing.
var noPreview string

// wholes are the bounds of null_value for types of whole numbers.
var wholes = map[string]struct {
	name      string // with its article
	low, high float64
}{
	"byte":          {"a byte", math.MinInt8, math.MaxInt8},
	"short":         {"a short", math.MinInt16, math.MaxInt16},
	"integer":       {"an integer", math.MinInt32, math.MaxInt32},
	"long":          {"a long", math.MinInt64, math.MaxInt64},
	"unsigned_long": {"an unsigned long", 0, math.MaxUint64},
}

// readLoose reads null_value of a numeric type, as leniently as definitions are
// read: a number or its text.
func readLoose(f *Field, v any) (Value, error) {
	text, size := javaText(v), 64
	if f.kind.name == "float" || f.kind.name == "half_float" {
		size = 32
	}
	real, err := parseDouble([]byte(text), size)
	if err != nil {
		return Value{}, err
	}
	if _, whole := wholes[f.kind.name]; whole {
		return looseWhole(f.kind.name, text, real)
	}
	held := real
	switch f.kind.name {
	case "scaled_float":
		return Value{Kind: Real, Float: real}, nil
	case "half_float":
		held = half(float32(real))
	}
	if math.IsInf(held, 0) || math.IsNaN(held) {
		return Value{}, notFinite(f.kind.name, real, size)
	}
	return Value{Kind: Real, Float: real}, nil
}

// looseWhole is a whole number, given its text and what that is as a double.
func looseWhole(kind, text string, real float64) (Value, error) {
	bounds := wholes[kind]
	if math.IsNaN(real) || real < bounds.low || real > bounds.high {
		return Value{}, exception.New(exception.IllegalArgument, "Value [%s] is out of range for %s", text, bounds.name)
	}
	if real != math.Trunc(real) {
		return Value{}, exception.New(exception.IllegalArgument, "Value [%s] has a decimal part", text)
	}
	d, ok := parseDecimal([]byte(strings.TrimSpace(text)))
	whole, fits := d.integer()
	switch {
	case !ok: // hexadecimal, or with a letter behind it
		return Value{Kind: Integer, Low: int64(real)}, nil
	case kind == "unsigned_long" && fits:
		return Value{Kind: Unsigned, Low: int64(whole)}, nil
	case fits && d.negative && whole <= 1<<63:
		return Value{Kind: Integer, Low: -int64(whole)}, nil
	case fits && !d.negative && whole <= math.MaxInt64:
		return Value{Kind: Integer, Low: int64(whole)}, nil
	}
	return Value{}, exception.New(exception.IllegalArgument, "Value [%s] is out of range for %s", text, bounds.name)
}

// parseNullDate reads null_value of a date; values that are none are ignored.
func parseNullDate(f *Field, text string) (Value, error) {
	v, err := dateText(f.format, text, f.kind.name == "date_nanos")
	if err != nil {
		return v, err
	}
	return v, nil
}

func readIP(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return w.nothing(f)
	}
	v, err := ipValue(t, &w.address, w.here())
	switch {
	case err == nil:
		w.emit(f, v)
	case !w.malformed(f, t):
		return err
	default:
		w.ignored(f)
	}
	return nil
}

// parseNullIP reads null_value of an address.
func parseNullIP(text string) (Value, bool) {
	var a address
	if !parseAddress([]byte(text), &a) {
		return Value{}, false
	}
	return Value{Kind: Address, Bytes: a[:]}, true
}

// readRange reads an object with the ends of a range.
func readRange(w *walk, f *Field, t token) error {
	if t.kind == json.Null {
		return nil
	}
	if w.ranges == nil {
		w.ranges = &rangeReader{}
	}
	field := rangeField{kind: f.kind.name, path: f.path, name: f.name, coerce: f.coerce.or(w.limits.Coerce), format: f.format}
	v, err := w.ranges.value(&field, t, w.here())
	noEnd := err != nil && (err.Type == exception.NumberFormat || err.Type == exception.IllegalArgument) && !w.ranges.unordered
	switch {
	case err == nil:
		w.emit(f, v)
		return nil
	case noEnd && f.ignoreMalformed.or(w.limits.IgnoreMalformed):
		w.ignored(f)
		return nil
	case t.kind == json.Object:
		w.preview = w.ranges.refused()
	}
	return err
}

// refused is what the server quotes of a range that it refuses: the value at
// which it stopped.
func (r *rangeReader) refused() *string {
	text := "null" // behind the object
	if r.tokens.Depth() > 0 {
		text = javaText(token{r.kind, r.tokens.Text()}.tree())
	}
	kind := r.kind
	if r.unknown {
		kind, _ = r.tokens.Next()
	}
	if r.unknown || r.tokens.Depth() > 1 {
		whole, _ := r.tokens.Whole(kind)
		text = javaText(token{kind, whole}.tree())
	}
	return &text
}
