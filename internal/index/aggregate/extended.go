package aggregate

import "math"

// noExtended is what extended_stats tells of no numbers behind stats.
const noExtended = `,"sum_of_squares":null,"variance":null,"variance_population":null,"variance_sampling":null,` +
	`"std_deviation":null,"std_deviation_population":null,"std_deviation_sampling":null,` +
	`"std_deviation_bounds":{"upper":null,"lower":null,"upper_population":null,"lower_population":null,"upper_sampling":null,"lower_sampling":null}`

// spread is how far the numbers of a bucket lie apart.
type spread struct {
	squares              float64 // sum of
	population, sampling float64 // variances
	average, sigma       float64
}

func (w *statistic) spread(bucket uint32) spread {
	m := w.at(bucket)
	s := spread{average: m.average(), sigma: 2}
	if w.of.Sigma != nil {
		s.sigma = *w.of.Sigma
	}
	if int(bucket) < len(w.squares) {
		s.squares = w.squares[bucket].sum
	}
	off := s.squares - m.sum.sum*m.sum.sum/float64(m.count)
	s.population, s.sampling = off/float64(m.count), off/float64(m.count-1)
	// What rounding makes of numbers that are all the same.
	if s.population < 0 {
		s.population = 0
	}
	if s.sampling < 0 {
		s.sampling = 0
	}
	return s
}

func (s *spread) bound(variance, side float64) float64 {
	return s.average + side*(math.Sqrt(variance)*s.sigma)
}

// extendedMeasure finds what a key means that stats does not have.
func extendedMeasure(key string, w *statistic) func(bucket uint32) float64 {
	var of func(s *spread) float64
	switch key {
	case "sum_of_squares":
		return func(b uint32) float64 {
			s := w.spread(b)
			return s.squares
		}
	case "variance", "variance_population":
		of = func(s *spread) float64 { return s.population }
	case "variance_sampling":
		of = func(s *spread) float64 { return s.sampling }
	case "std_deviation", "std_deviation_population":
		of = func(s *spread) float64 { return math.Sqrt(s.population) }
	case "std_deviation_sampling":
		of = func(s *spread) float64 { return math.Sqrt(s.sampling) }
	case "std_upper":
		of = func(s *spread) float64 { return s.bound(s.population, 1) }
	case "std_lower":
		of = func(s *spread) float64 { return s.bound(s.population, -1) }
	default:
		return nil
	}
	return func(b uint32) float64 {
		s := w.spread(b)
		return of(&s)
	}
}

// figure is a number with its name.
type figure struct {
	name string
	v    float64
}

func (w *statistic) appendExtended(dst []byte, bucket uint32) []byte {
	s := w.spread(bucket)
	deviation, sampled := math.Sqrt(s.population), math.Sqrt(s.sampling)
	figures := [...]figure{
		{"sum_of_squares", s.squares}, {"variance", s.population}, {"variance_population", s.population}, {"variance_sampling", s.sampling},
		{"std_deviation", deviation}, {"std_deviation_population", deviation}, {"std_deviation_sampling", sampled},
	}
	bounds := [...]figure{
		{"upper", s.bound(s.population, 1)}, {"lower", s.bound(s.population, -1)},
		{"upper_population", s.bound(s.population, 1)}, {"lower_population", s.bound(s.population, -1)},
		{"upper_sampling", s.bound(s.sampling, 1)}, {"lower_sampling", s.bound(s.sampling, -1)},
	}
	for _, f := range figures {
		dst = appendNumber(member(dst, f.name), f.v)
	}
	dst = append(member(dst, "std_deviation_bounds"), '{')
	for _, f := range bounds {
		dst = appendNumber(member(dst, f.name), f.v)
	}
	dst = append(dst, '}')
	f := &w.values.format
	if f.kind == plain {
		return dst
	}
	for i, figure := range figures {
		dst = member(dst, figure.name+"_as_string")
		if i < 4 {
			dst = f.appendObject(dst, figure.v)
		} else {
			dst = f.appendReal(dst, figure.v)
		}
	}
	dst = append(member(dst, "std_deviation_bounds_as_string"), '{')
	for _, figure := range bounds {
		dst = f.appendReal(member(dst, figure.name), figure.v)
	}
	return append(dst, '}')
}
