package mapping

import (
	"bytes"
	"errors"
	"math"

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// rangeField is what reading the ranges of a field takes.
type rangeField struct {
	kind   string // integer_range, …, ip_range
	path   string
	name   string // the last key before the value
	coerce bool
	format *date.Format // of date_range
}

// rangeReader keeps what reading ranges needs from value to value.
type rangeReader struct {
	tokens json.Reader
	ends   [2]address
	bytes  [32]byte
	// unknown: the last value was refused for a key that no range has
	unknown bool
	// unordered: the ends were numbers, but the wrong way round
	unordered bool
	kind      json.Kind // of the last end
}

// value reads an object with some of gt, gte, lt and lte, of which the last of
// a side counts; what is not told is unbounded. Ends are included in the value,
// as the server keeps them. An ip_range may be a prefix. The value's bytes are
// valid until the next call. Null is the caller's.
func (r *rangeReader) value(f *rangeField, t token, p place) (Value, *exception.Error) {
	if f.kind == "ip_range" && prefixToken(t) {
		if err := parsePrefix(t.text, &r.ends[0], &r.ends[1]); err != nil {
			return Value{}, err
		}
		v, err := r.addresses()
		v.Net = t.text
		return v, err
	}
	if t.kind != json.Object {
		return Value{}, exception.New(exception.MapperParsing, "error parsing field [%s], expected an object but got %s", f.path, f.name)
	}
	v := unbounded(f.kind)
	r.unknown, r.unordered = false, false
	r.ends = [2]address{}
	for i := range r.ends[1] {
		r.ends[1][i] = 255
	}
	r.tokens.Reset(t.text)
	if _, err := r.next(); err != nil {
		return v, err
	}
	for {
		kind, err := r.next()
		if err != nil {
			return v, err
		}
		if kind == json.ObjectEnd {
			break
		}
		if err := r.bound(f, &v, p); err != nil {
			return v, err
		}
	}
	if f.kind == "ip_range" {
		a, err := r.addresses()
		a.LowOpen, a.HighOpen = v.LowOpen, v.HighOpen
		return a, err
	}
	err := v.ordered(f.kind)
	r.unordered = err != nil
	return v, err
}

func (r *rangeReader) next() (json.Kind, *exception.Error) {
	kind, err := r.tokens.Next()
	if err != nil {
		var e *exception.Error
		if errors.As(err, &e) {
			return kind, e
		}
		return kind, exception.From(err)
	}
	return kind, nil
}

// bound reads the value of one key.
func (r *rangeReader) bound(f *rangeField, v *Value, p place) *exception.Error {
	var high, excluded bool
	switch string(r.tokens.Text()) {
	case "gt":
		excluded = true
	case "gte":
	case "lt":
		high, excluded = true, true
	case "lte":
		high = true
	default:
		r.unknown = true
		return exception.New(exception.MapperParsing, "error parsing field [%s], with unknown parameter [%s]", f.path, r.tokens.Text())
	}
	if high {
		v.HighOpen = excluded
	} else {
		v.LowOpen = excluded
	}
	kind, err := r.next()
	if r.kind = kind; err != nil || kind == json.Null {
		return err
	}
	t, at := token{kind, r.tokens.Text()}, p.at(r.tokens.Offset())
	step := 0
	if excluded {
		step = 1 - 2*bool2int(high)
	}
	switch f.kind {
	case "ip_range":
		end := &r.ends[bool2int(high)]
		if _, err := ipValue(t, end, at); err != nil || step == 0 {
			return err
		}
		return end.step(step)
	case "date_range":
		return dateEnd(f, v, t, high, int64(step), at)
	}
	return numberEnd(f, v, t, high, step, at)
}

var noClock = exception.New(exception.OpenSearchParse, "could not read the current timestamp").
	CausedBy(exception.New(exception.IllegalArgument, "now is not used at indexing time"))

// dateEnd reads an end with date math; there is no now in a document.
func dateEnd(f *rangeField, v *Value, t token, high bool, step int64, p place) *exception.Error {
	if !t.kind.IsScalar() {
		return p.noText(t.kind)
	}
	if bytes.HasPrefix(t.text, []byte("now")) {
		return noClock
	}
	millis, _, err := f.format.ParseMath(string(t.text), 0, false, nil)
	if err != nil {
		return exception.From(err)
	}
	if high {
		v.High = millis + step
	} else {
		v.Low = millis + step
	}
	return nil
}

func numberEnd(f *rangeField, v *Value, t token, high bool, step int, p place) *exception.Error {
	n, err := endValue(f, t, p)
	if err != nil {
		return err
	}
	switch f.kind {
	case "integer_range":
		n.Low = int64(int32(n.Low + int64(step))) // and over, as the server's does
	case "long_range":
		n.Low += int64(step)
	case "float_range":
		if step != 0 {
			n.Float = float64(math.Nextafter32(float32(n.Float), float32(math.Inf(step))))
		}
	default:
		if step != 0 {
			n.Float = math.Nextafter(n.Float, math.Inf(step))
		}
	}
	if high {
		v.High, v.FloatHigh = n.Low, n.Float
	} else {
		v.Low, v.Float = n.Low, n.Float
	}
	return nil
}

// endValue is a number; an empty text is none, even if coercion takes it for null.
func endValue(f *rangeField, t token, p place) (v Value, err *exception.Error) {
	switch f.kind {
	case "integer_range":
		v.Low, err = wholeValue(&ints, t, f.coerce, p)
	case "long_range":
		v.Low, err = wholeValue(&longs, t, f.coerce, p)
	case "float_range":
		v, err = realValue("float", t, f.coerce, p)
	default:
		v, err = realValue("double", t, f.coerce, p)
	}
	return v, err
}

func unbounded(kind string) Value {
	switch kind {
	case "integer_range":
		return Value{Kind: IntegerRange, Low: math.MinInt32, High: math.MaxInt32}
	case "float_range", "double_range":
		return Value{Kind: RealRange, Float: math.Inf(-1), FloatHigh: math.Inf(1)}
	}
	return Value{Kind: IntegerRange, Low: math.MinInt64, High: math.MaxInt64}
}

// ordered refuses a range whose ends are the wrong way round.
func (v *Value) ordered(kind string) *exception.Error {
	switch {
	case v.Kind == IntegerRange && v.Low > v.High:
		return exception.New(exception.IllegalArgument, "min value (%d) is greater than max value (%d)", v.Low, v.High)
	case v.Kind == RealRange && v.Float > v.FloatHigh:
		bits := 64
		if kind == "float_range" {
			bits = 32
		}
		return exception.New(exception.IllegalArgument, "min value (%s) is greater than max value (%s)", java.AppendReal(nil, v.Float, bits), java.AppendReal(nil, v.FloatHigh, bits))
	}
	return nil
}

// addresses is the value between the ends.
func (r *rangeReader) addresses() (Value, *exception.Error) {
	if r.unordered = bytes.Compare(r.ends[0][:], r.ends[1][:]) > 0; r.unordered {
		return Value{}, exception.New(exception.IllegalArgument, "min value cannot be greater than max value for InetAddressRange field")
	}
	copy(r.bytes[:16], r.ends[0][:])
	copy(r.bytes[16:], r.ends[1][:])
	return Value{Kind: AddressRange, Bytes: r.bytes[:]}, nil
}
