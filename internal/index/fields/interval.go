package fields

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// A range that a document holds is one term: its least and its greatest value, both
// included, each in bytes whose order is that of the values. So each of several ranges
// of a doc stays a pair.

func putWholes(c *column, v *mapping.Value) { c.pair(v.Low, v.High) }

func putReals(c *column, v *mapping.Value) { c.pair(RealBits(v.Float), RealBits(v.FloatHigh)) }

func putAddresses(c *column, v *mapping.Value) { c.term(v.Bytes) }

func (c *column) pair(low, high int64) {
	c.scratch = appendEnd(appendEnd(c.scratch[:0], low), high)
	c.term(c.scratch)
}

func appendEnd(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n^topBit))
}

// Ends reads a range of whole numbers that a document holds: its least and its greatest
// value, both included.
func (f *Field) Ends(term []byte) (low, high int64) {
	return int64(binary.BigEndian.Uint64(term)) ^ topBit, int64(binary.BigEndian.Uint64(term[8:])) ^ topBit
}

// RealEnds is Ends of a range of any numbers.
func (f *Field) RealEnds(term []byte) (low, high float64) {
	l, h := f.Ends(term)
	if _, real := f.real(); real {
		return RealOf(l), RealOf(h)
	}
	return float64(l), float64(h)
}

// exactInterval are the ranges that hold a value.
func exactInterval(f *Field, v Value, now int64) (Match, error) {
	both := &Bound{Value: v, Include: true}
	return intervals(f, Asked{From: both, To: both}, now)
}

// intervals are the ranges that have something in common with the one that is asked
// for, hold it (contains), or lie in it (within).
func intervals(f *Field, a Asked, now int64) (Match, error) {
	low, high, ok, err := f.ends(a, now)
	if err != nil || !ok {
		return none, err
	}
	size := len(low)
	// of what a document holds: the least and the greatest value of low, and of high
	var lowTo, highFrom, lowFrom, highTo []byte
	switch strings.ToLower(a.Relation) {
	case "", "intersects":
		lowTo, highFrom = high, low
	case "contains":
		lowTo, highFrom = low, high
	case "within":
		lowFrom, highTo = low, high
	default:
		return none, exception.New(exception.IllegalArgument, "[range] query does not support relation [%s]", a.Relation)
	}
	m := Match{Terms: true, LeastTerm: lowFrom}
	if lowTo != nil {
		m.GreatestTerm = append(bytes.Clone(lowTo), bytes.Repeat([]byte{0xff}, size)...)
	}
	m.Where = func(term []byte) bool {
		if len(term) != 2*size {
			return false
		}
		end := term[size:]
		return (highFrom == nil || bytes.Compare(end, highFrom) >= 0) && (highTo == nil || bytes.Compare(end, highTo) <= 0)
	}
	return m, nil
}

// ends are those of a range that is asked for, included; ok is false when nothing lies
// between what it excludes.
func (f *Field) ends(a Asked, now int64) (low, high []byte, ok bool, err error) {
	if f.row.name == "ip_range" {
		return addressEnds(a)
	}
	read := f.numberEnd
	if f.row.name == "date_range" {
		if read, err = f.dateEnd(a, now); err != nil {
			return nil, nil, false, err
		}
	}
	least, greatest := f.widest()
	if a.From != nil {
		if least, err = read(a.From.Value, !a.From.Include); err != nil {
			return nil, nil, false, err
		}
	}
	if a.To != nil {
		if greatest, err = read(a.To.Value, a.To.Include); err != nil {
			return nil, nil, false, err
		}
	}
	if least > greatest {
		return nil, nil, false, inverted(f.endText(least), f.endText(greatest))
	}
	if a.From != nil && !a.From.Include {
		least = f.next(least, 1)
	}
	if a.To != nil && !a.To.Include {
		greatest = f.next(greatest, -1)
	}
	return appendEnd(nil, least), appendEnd(nil, greatest), least <= greatest, nil
}

// addressEnds are ends of ip_range.
func addressEnds(a Asked) (low, high []byte, ok bool, err error) {
	whole := a
	if a.From != nil {
		whole.From = &Bound{Value: a.From.Value, Include: true}
	}
	if a.To != nil {
		whole.To = &Bound{Value: a.To.Value, Include: true}
	}
	l, h, ok, err := addresses(whole)
	switch {
	case err != nil:
		return nil, nil, false, err
	case !ok:
		return nil, nil, false, inverted("/"+addressText(l[:]), "/"+addressText(h[:]))
	case a.From != nil && !a.From.Include && !step(&l, 1):
		return nil, nil, false, exception.New(exception.Arithmetic, "Overflow: there is no greater InetAddress than ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
	case a.To != nil && !a.To.Include && !step(&h, -1):
		return nil, nil, false, exception.New(exception.Arithmetic, "Underflow: there is no smaller InetAddress than 0:0:0:0:0:0:0:0")
	}
	return l[:], h[:], bytes.Compare(l[:], h[:]) <= 0, nil
}

func inverted(from, to string) error {
	return exception.New(exception.IllegalArgument, "Range query `from` value (%s) is greater than `to` value (%s)", from, to)
}

// widest are the ends of a range that tells none.
func (f *Field) widest() (least, greatest int64) {
	switch f.row.name {
	case "integer_range":
		return math.MinInt32, math.MaxInt32
	case "float_range", "double_range":
		return RealBits(math.Inf(-1)), RealBits(math.Inf(1))
	}
	return math.MinInt64, math.MaxInt64
}

// real reports whether ends are numbers with fractions, and of how many bits.
func (f *Field) real() (bits int, ok bool) {
	switch f.row.name {
	case "float_range":
		return 32, true
	case "double_range":
		return 64, true
	}
	return 0, false
}

// endText is an end in messages.
func (f *Field) endText(n int64) string {
	if bits, ok := f.real(); ok {
		return string(java.AppendReal(nil, RealOf(n), bits))
	}
	return strconv.FormatInt(n, 10)
}

// next is the value of the type that follows an end in a direction, 1 or -1; there is
// nothing behind the last.
func (f *Field) next(n int64, direction int) int64 {
	switch bits, ok := f.real(); {
	case bits == 32:
		return RealBits(float64(math.Nextafter32(float32(RealOf(n)), float32(math.Inf(direction)))))
	case ok:
		return RealBits(math.Nextafter(RealOf(n), math.Inf(direction)))
	case direction > 0 && n == math.MaxInt64, direction < 0 && n == math.MinInt64:
		return n
	}
	return n + int64(direction)
}

// Told gives a range of a document the ends that were told, instead of those next to them
// that it includes. An end that is the last of its type stays: it may have been told as
// null.
func (f *Field) Told(v *mapping.Value) mapping.Value {
	told := *v
	if v.Kind == mapping.AddressRange {
		var low, high [16]byte
		copy(low[:], v.Bytes[:16])
		copy(high[:], v.Bytes[16:])
		if v.LowOpen && !step(&low, -1) {
			step(&low, 1)
		}
		if v.HighOpen && !step(&high, 1) {
			step(&high, -1)
		}
		told.Bytes = append(low[:], high[:]...)
		return told
	}
	low, high := v.Low, v.High
	if v.Kind == mapping.RealRange {
		low, high = RealBits(v.Float), RealBits(v.FloatHigh)
	}
	least, greatest := f.widest()
	if v.LowOpen && low != least {
		low = f.next(low, -1)
	}
	if v.HighOpen && high != greatest {
		high = f.next(high, 1)
	}
	if v.Kind == mapping.RealRange {
		told.Float, told.FloatHigh = RealOf(low), RealOf(high)
	} else {
		told.Low, told.High = low, high
	}
	return told
}

// Widest reports whether the ends of a range are the last of the type, as they are where
// none is told.
func (f *Field) Widest(v *mapping.Value) (low, high bool) {
	if v.Kind == mapping.AddressRange {
		return bytes.Equal(v.Bytes[:16], make([]byte, 16)), bytes.Equal(v.Bytes[16:], bytes.Repeat([]byte{0xff}, 16))
	}
	least, greatest := f.widest()
	if v.Kind == mapping.RealRange {
		return RealBits(v.Float) == least, RealBits(v.FloatHigh) == greatest
	}
	return v.Low == least, v.High == greatest
}

// numberEnd reads a number, without its fraction if the type has none.
func (f *Field) numberEnd(v Value, _ bool) (int64, error) {
	value, cut, err := mapping.AskedNumber(strings.TrimSuffix(f.row.name, "_range"), v.Kind, v.Text)
	switch {
	case err != nil:
		return 0, err
	case cut != 0:
		return 0, exception.New(exception.IllegalArgument, "Value [%s] has a decimal part", mapping.QuoteAsked(v.Kind, v.String()))
	case value.Kind == mapping.Real:
		return RealBits(value.Float), nil
	}
	return value.Low, nil
}

// dateEnd gives what reads dates, in milliseconds.
func (f *Field) dateEnd(a Asked, now int64) (func(Value, bool) (int64, error), error) {
	format, err := f.dateFormat(a)
	return func(v Value, roundUp bool) (int64, error) {
		millis, _, err := format.ParseMath(v.String(), now, roundUp, a.Zone)
		return millis, err
	}, err
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
