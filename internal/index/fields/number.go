package fields

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// topBit turns the order of unsigned numbers into that of signed ones.
const topBit = math.MinInt64

func putInteger(c *column, v *mapping.Value) { c.out.Number(v.Low) }

func putUnsigned(c *column, v *mapping.Value) { c.out.Number(v.Low ^ topBit) }

func putReal(c *column, v *mapping.Value) { c.out.Number(RealBits(v.Float)) }

func putScaled(c *column, v *mapping.Value) { c.out.Number(round(v.Float * c.field.def.Scaling())) }

// RealBits is a number of a column that has the order of reals, as in Lucene's NumericUtils: the bits of
// v, of negative ones all but the sign inverted. -0 is less than 0.
func RealBits(v float64) int64 {
	bits := int64(math.Float64bits(v))
	return bits ^ bits>>63&math.MaxInt64
}

// RealOf is the inverse of RealBits.
func RealOf(n int64) float64 { return math.Float64frombits(uint64(n ^ n>>63&math.MaxInt64)) }

// round goes to the nearest whole number, and up from the middle, as Java's Math.round.
func round(v float64) int64 {
	floor := math.Floor(v)
	if v-floor >= 0.5 {
		floor++
	}
	return java.Long(floor)
}

// number is a whole number of a query as one of the column, and the fraction that was
// cut off, with its sign.
func (f *Field) number(v Value) (n int64, cut float64, err error) {
	value, cut, err := mapping.AskedNumber(f.row.name, v.Kind, v.Text)
	if f.row.name == "unsigned_long" {
		value.Low ^= topBit
	}
	return value.Low, cut, err
}

func exactWhole(f *Field, v Value, _ int64) (Match, error) {
	n, cut, err := f.number(v)
	switch {
	case cut != 0:
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
	if a.From != nil {
		n, cut, err := f.number(a.From.Value)
		if err != nil {
			return none, err
		}
		if least = n; cut > 0 || cut == 0 && !a.From.Include {
			if least == math.MaxInt64 {
				return none, nil
			}
			least++
		}
	}
	if a.To != nil {
		n, cut, err := f.number(a.To.Value)
		if err != nil {
			return none, err
		}
		if greatest = n; cut < 0 || cut == 0 && !a.To.Include {
			if greatest == math.MinInt64 {
				return none, nil
			}
			greatest--
		}
	}
	return numbers(least, greatest), nil
}

func exactReal(f *Field, v Value, _ int64) (Match, error) {
	value, _, err := mapping.AskedNumber(f.row.name, v.Kind, v.Text)
	if err != nil {
		return none, err
	}
	n := RealBits(value.Float)
	return numbers(n, n), nil
}

// realsWithin compares with the bound as a number of 64 or 32 bits, whatever the type
// rounds to.
func realsWithin(f *Field, a Asked, _ int64) (Match, error) {
	least, greatest := RealBits(math.Inf(-1)), RealBits(math.Inf(1))
	if a.From != nil {
		n, err := f.realBound(a.From.Value)
		if err != nil {
			return none, err
		}
		least = n + boolean(!a.From.Include)
	}
	if a.To != nil {
		n, err := f.realBound(a.To.Value)
		if err != nil {
			return none, err
		}
		greatest = n - boolean(!a.To.Include)
	}
	return numbers(least, greatest), nil
}

// realBound is a number of a query. Ranges of double may end at what is no number.
func (f *Field) realBound(v Value) (int64, error) {
	value, _, err := mapping.AskedNumber(f.row.name, v.Kind, v.Text)
	if f.row.name == "double" && exception.Is(err, exception.IllegalArgument) {
		err = nil
	}
	return RealBits(value.FloatHigh), err
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
		least = java.Long(math.Ceil(scaled))
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
		greatest = java.Long(math.Floor(scaled))
	}
	return numbers(least, greatest), nil
}
