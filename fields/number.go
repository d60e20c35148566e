package fields

import (
	"math"

	"github.com/reshelve/reshelve/mapping"
)

// topBit turns the order of unsigned numbers into that of signed ones.
const topBit = math.MinInt64

func putInteger(c *column, v *mapping.Value) { c.out.Number(v.Low) }

func putUnsigned(c *column, v *mapping.Value) { c.out.Number(v.Low ^ topBit) }

func putReal(c *column, v *mapping.Value) { c.out.Number(realNumber(v.Float)) }

func putScaled(c *column, v *mapping.Value) { c.out.Number(round(v.Float * c.field.def.Scaling())) }

// realNumber gives reals the order of numbers, as Lucene's NumericUtils does: the bits,
// of negative ones all but the sign turned over. -0 is less than 0.
func realNumber(v float64) int64 {
	bits := int64(math.Float64bits(v))
	return bits ^ bits>>63&math.MaxInt64
}

// realOf is the opposite of realNumber.
func realOf(n int64) float64 { return math.Float64frombits(uint64(n ^ n>>63&math.MaxInt64)) }

// round goes to the nearest whole number, and up from the middle, as Java's Math.round.
func round(v float64) int64 {
	floor := math.Floor(v)
	if v-floor >= 0.5 {
		floor++
	}
	return whole(floor)
}

// whole is a real without fraction as an integer; beyond the range, the end of it.
func whole(v float64) int64 {
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

// number is a value of a query as one of the column; fraction: it lies between two, and
// away tells in which direction from n.
func (f *Field) number(v Value) (n int64, fraction bool, err error) {
	value, fraction, err := mapping.AskedNumber(f.row.name, v.Kind, v.Text)
	switch value.Kind {
	case mapping.Unsigned:
		return value.Low ^ topBit, fraction, err
	case mapping.Real:
		return realNumber(value.Float), fraction, err
	}
	return value.Low, fraction, err
}

func exactWhole(f *Field, v Value, _ int64) (Match, error) {
	n, fraction, err := f.number(v)
	switch {
	case fraction:
		return none, nil
	case err != nil:
		return none, err
	}
	return numbers(n, n), nil
}

// wholesWithin: a fraction is cut off, so that a bound with one moves to the next whole
// number inside.
func wholesWithin(f *Field, a Asked, _ int64) (Match, error) {
	least, greatest := int64(math.MinInt64), int64(math.MaxInt64)
	zero := int64(0)
	if f.row.name == "unsigned_long" {
		zero = topBit
	}
	if a.From != nil {
		n, fraction, err := f.number(a.From.Value)
		if err != nil {
			return none, err
		}
		if least = n; fraction && positive(a.From.Value, n > zero) || !fraction && !a.From.Include {
			if least == math.MaxInt64 {
				return none, nil
			}
			least++
		}
	}
	if a.To != nil {
		n, fraction, err := f.number(a.To.Value)
		if err != nil {
			return none, err
		}
		if greatest = n; fraction && !positive(a.To.Value, n > zero) || !fraction && !a.To.Include {
			if greatest == math.MinInt64 {
				return none, nil
			}
			greatest--
		}
	}
	return numbers(least, greatest), nil
}

// positive tells the side of zero of a number with a fraction, which was cut off.
func positive(v Value, surely bool) bool {
	text := v.String()
	return surely || len(text) > 0 && text[0] != '-' && text[0] != ' '
}

func exactReal(f *Field, v Value, _ int64) (Match, error) {
	n, _, err := f.number(v)
	if err != nil {
		return none, err
	}
	return numbers(n, n), nil
}

// realsWithin: bounds are rounded to the type, and what is excluded is the next one of
// the type.
func realsWithin(f *Field, a Asked, _ int64) (Match, error) {
	least, greatest := realNumber(math.Inf(-1)), realNumber(math.Inf(1))
	if a.From != nil {
		n, _, err := f.number(a.From.Value)
		if err != nil {
			return none, err
		}
		if least = n; !a.From.Include {
			least++
		}
	}
	if a.To != nil {
		n, _, err := f.number(a.To.Value)
		if err != nil {
			return none, err
		}
		if greatest = n; !a.To.Include {
			greatest--
		}
	}
	return numbers(least, greatest), nil
}

func exactScaled(f *Field, v Value, _ int64) (Match, error) {
	value, _, err := mapping.AskedNumber(f.row.name, v.Kind, v.Text)
	if err != nil {
		return none, err
	}
	n := round(f.def.Scaled(value.Float))
	return numbers(n, n), nil
}

func scaledWithin(f *Field, a Asked, _ int64) (Match, error) {
	least, greatest := int64(math.MinInt64), int64(math.MaxInt64)
	if a.From != nil {
		value, _, err := mapping.AskedNumber(f.row.name, a.From.Value.Kind, a.From.Value.Text)
		if err != nil {
			return none, err
		}
		scaled := f.def.Scaled(value.Float)
		if !a.From.Include {
			scaled = math.Nextafter(scaled, math.Inf(1))
		}
		least = whole(math.Ceil(scaled))
	}
	if a.To != nil {
		value, _, err := mapping.AskedNumber(f.row.name, a.To.Value.Kind, a.To.Value.Text)
		if err != nil {
			return none, err
		}
		scaled := f.def.Scaled(value.Float)
		if !a.To.Include {
			scaled = math.Nextafter(scaled, math.Inf(-1))
		}
		greatest = whole(math.Floor(scaled))
	}
	return numbers(least, greatest), nil
}
