package search

import (
	"math"
	"sync"
)

// meanRadius of the earth, in meters.
const meanRadius = 6371008.7714

// arc is the distance of two places on a sphere, in meters, by the haversine formula: to
// the last digit as Lucene's SloppyMath computes it, since sorting tells it.
func arc(lat1, lon1, lat2, lon2 float64) float64 {
	t := trigonometry()
	a, b := radians(lat1), radians(lat2)
	h := 1 - t.cos(a-b) + float64(float64(t.cos(a)*t.cos(b))*(1-t.cos(radians(lon1-lon2))))
	h = math.Float64frombits(math.Float64bits(h) &^ 7) // Lucene compares these, and drops what is not exact
	return meanRadius * 2 * t.asin(min(1, math.Sqrt(h*0.5)))
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

// plane is the distance of two places as if the earth were flat between them, in meters.
func plane(lat1, lon1, lat2, lon2 float64) float64 {
	x := radians(lon2-lon1) * math.Cos(radians((lat2+lat1)/2))
	y := radians(lat2 - lat1)
	return math.Sqrt(float64(x*x)+float64(y*y)) * meanRadius
}

// metersOf is a unit of lengths in meters.
func metersOf(unit string) float64 {
	for _, u := range lengthUnits {
		if u.name == unit {
			return u.meters
		}
	}
	return 1
}

const (
	turns = 1 << 11 // parts of a circle in the table of sine and cosine
	rises = 1 << 13 // parts of the table of the arc sine
)

// trig are tables of sine, cosine and arc sine, between whose points four terms of a Taylor
// series are enough.
type trig struct {
	stepHigh, stepLow float64 // of a circle: their sum
	sines, cosines    [turns + 1]float64
	greatest, rise    float64 // the end of the table of the arc sine, and its step
	arcs              [rises + 1][5]float64
}

var trigonometry = sync.OnceValue(func() *trig {
	// Half of pi in two numbers, the first of which has few bits: its multiples are exact.
	high, low := math.Float64frombits(0x3ff921fb54400000), math.Float64frombits(0x3dd0b4611a626331)
	t := &trig{stepHigh: 4 * high / turns, stepLow: 4 * low / turns, greatest: math.Sin(radians(73))}
	for i := range t.sines {
		angle := double{float64(i)*t.stepHigh + float64(i)*t.stepLow, 0}
		t.sines[i], t.cosines[i] = angle.series(1).hi, angle.series(0).hi
	}
	for i, sign := range []float64{0, 1, 0, -1, 0} { // at quarters of a circle
		t.sines[i*turns/4], t.cosines[i*turns/4] = sign, []float64{1, 0, -1, 0, 1}[i]
	}
	t.rise = t.greatest / rises
	for i := range t.arcs {
		x := float64(i) * t.rise
		inverse := 1 / (1 - x*x)
		half := math.Sqrt(inverse)
		t.arcs[i] = [5]float64{
			arcSine(x), half, x * float64(half*inverse) / 2,
			float64((1+2*x*x)*float64(half*inverse*inverse)) * (1.0 / 6),
			float64((5+2*x*(2+x*(5-2*x)))*float64(half*inverse*inverse*inverse)) * (1.0 / 24),
		}
	}
	return t
})

// cos is the cosine, good to about 1e-15.
func (t *trig) cos(a float64) float64 {
	a = math.Abs(a)
	i := int(a*(1/(t.stepHigh+t.stepLow)) + 0.5)
	d := a - float64(i)*t.stepHigh - float64(i)*t.stepLow
	i &= turns - 1
	c, s := t.cosines[i], t.sines[i]
	return c + d*(-s+d*(-c/2+d*(s*(1.0/6)+d*c*(1.0/24))))
}

// asin is the arc sine of what is not negative, good to about 1e-7 of the last digits.
func (t *trig) asin(a float64) float64 {
	if a > t.greatest {
		return math.Asin(a)
	}
	i := int(a*(1/t.rise) + 0.5)
	d, p := a-float64(i)*t.rise, &t.arcs[i]
	return p[0] + d*(p[1]+d*(p[2]+d*(p[3]+d*p[4])))
}

// arcSine is the arc sine, rounded once: Newton's step from a good value.
func arcSine(x float64) float64 {
	y := math.Asin(x)
	sine := double{y, 0}.series(1)
	return y + (x-sine.hi-sine.lo)/math.Cos(y)
}

// double is a number of twice the precision: the sum of two, of which the second is less
// than half a digit of the first.
type double struct{ hi, lo float64 }

func (a double) plus(b double) double {
	s := a.hi + b.hi
	v := s - a.hi
	e := (a.hi - (s - v)) + (b.hi - v) + a.lo + b.lo
	return double{s + e, e - ((s + e) - s)}
}

func (a double) times(b double) double {
	p := a.hi * b.hi
	e := math.FMA(a.hi, b.hi, -p) + float64(a.hi*b.lo) + float64(a.lo*b.hi)
	return double{p + e, e - ((p + e) - p)}
}

func (a double) over(n float64) double {
	q := a.hi / n
	r := math.FMA(-q, n, a.hi) + a.lo
	return double{q, 0}.plus(double{r / n, 0})
}

// series is the sine, from the first power, or the cosine, from the power 0, of an angle of
// at most a circle.
func (a double) series(power float64) double {
	term := double{1, 0}
	if power == 1 {
		term = a
	}
	sum, square := term, a.times(a)
	for n := power; n < 60; n += 2 {
		term = term.times(square).over((n + 1) * (n + 2))
		term = double{-term.hi, -term.lo}
		sum = sum.plus(term)
	}
	return sum
}
