package fields

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"github.com/reshelve/reshelve/date"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/mapping"
)

// A range that a document holds is one term: its least and its greatest value, both
// included, each in bytes whose order is that of the values. So each of several ranges
// of a doc stays a pair.

func putWholes(c *column, v *mapping.Value) { c.pair(v.Low, v.High) }

func putReals(c *column, v *mapping.Value) { c.pair(realNumber(v.Float), realNumber(v.FloatHigh)) }

func putAddresses(c *column, v *mapping.Value) { c.term(v.Bytes) }

func (c *column) pair(low, high int64) {
	c.scratch = appendEnd(appendEnd(c.scratch[:0], low), high)
	c.term(c.scratch)
}

func appendEnd(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n^topBit))
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

// ends are those of a range that is asked for, included; ok is false when it is empty.
func (f *Field) ends(a Asked, now int64) (low, high []byte, ok bool, err error) {
	if f.row.name == "ip_range" {
		l, h, ok, err := addresses(a)
		return l[:], h[:], ok, err
	}
	var least, greatest int64
	switch f.row.name {
	case "date_range":
		least, greatest, err = f.dateEnds(a, now)
	case "integer_range":
		least, greatest, err = f.numberEnds(a, math.MinInt32, math.MaxInt32)
	case "long_range":
		least, greatest, err = f.numberEnds(a, math.MinInt64, math.MaxInt64)
	default:
		least, greatest, err = f.numberEnds(a, realNumber(math.Inf(-1)), realNumber(math.Inf(1)))
	}
	return appendEnd(nil, least), appendEnd(nil, greatest), err == nil && least <= greatest, err
}

// numberEnds are of a type of numbers; excluded is what lies one further.
func (f *Field) numberEnds(a Asked, least, greatest int64) (int64, int64, error) {
	read := func(b *Bound, n *int64, step int64) error {
		if b == nil {
			return nil
		}
		v, fraction, err := mapping.AskedNumber(strings.TrimSuffix(f.row.name, "_range"), b.Value.Kind, b.Value.Text)
		if fraction && err == nil {
			err = exception.New(exception.IllegalArgument, "Value [%s] has a decimal part", b.Value)
		}
		if *n = v.Low; v.Kind == mapping.Real {
			*n = f.realEnd(v.Float, step*boolean(!b.Include))
		} else if !b.Include {
			*n += step
		}
		return err
	}
	if err := read(a.From, &least, 1); err != nil {
		return 0, 0, err
	}
	err := read(a.To, &greatest, -1)
	return least, greatest, err
}

// realEnd is the next number of the type in the direction of step.
func (f *Field) realEnd(v float64, step int64) int64 {
	if step == 0 {
		return realNumber(v)
	}
	if f.row.name == "float_range" {
		return realNumber(float64(math.Nextafter32(float32(v), float32(math.Inf(int(step))))))
	}
	return realNumber(math.Nextafter(v, math.Inf(int(step))))
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// dateEnds are in milliseconds.
func (f *Field) dateEnds(a Asked, now int64) (least, greatest int64, err error) {
	format := f.def.Format()
	if a.Format != "" {
		if format, err = date.ParseFormat(a.Format); err != nil {
			return 0, 0, err
		}
	}
	least, greatest = math.MinInt64, math.MaxInt64
	if a.From != nil {
		if least, _, err = format.ParseMath(a.From.Value.String(), now, !a.From.Include, a.Zone); err != nil {
			return 0, 0, err
		}
		least += boolean(!a.From.Include)
	}
	if a.To != nil {
		if greatest, _, err = format.ParseMath(a.To.Value.String(), now, a.To.Include, a.Zone); err != nil {
			return 0, 0, err
		}
		greatest -= boolean(!a.To.Include)
	}
	return least, greatest, nil
}
