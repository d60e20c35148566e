package aggregate

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

func newHistogram(n *node, k *Histogram, o Options) worker {
	w := &histogramWorker[float64]{n: n, order: k.Order, keyed: k.Keyed, least: k.MinDocCount}
	w.values = values{of: k.Values, now: o.Now}
	w.scale = &realScale{of: k}
	return w
}

// realScale cuts numbers into intervals of one length.
type realScale struct {
	of     *Histogram
	values *values
}

func (s *realScale) prepare(v *values) error {
	s.values = v
	if !(s.of.Interval > 0) {
		return exception.New(exception.IllegalArgument, "interval must be positive, got: %s", java.Double(s.of.Interval))
	}
	if s.of.Extended == nil || s.of.Hard == nil {
		return nil
	}
	if below(s.of.Extended.Least, s.of.Hard.Least) || below(s.of.Hard.Greatest, s.of.Extended.Greatest) {
		return exception.New(exception.IllegalArgument, "Extended bounds have to be inside hard bounds, hard bounds: [%s], extended bounds: [%s]",
			s.of.Hard.text(), s.of.Extended.text())
	}
	return nil
}

// below reports whether a is less than b, where both are there.
func below(a, b *float64) bool { return a != nil && b != nil && *a < *b }

func (b *Bounds) text() string {
	end := func(v *float64) string {
		if v == nil {
			return ""
		}
		return java.Double(*v)
	}
	return end(b.Least) + "--" + end(b.Greatest)
}

func (s *realScale) keys(r *numbers, docs []segment.Doc) (at []int32, keys []float64) {
	at, keys = r.reals(docs)
	n := 0
	for j, v := range keys {
		floor := math.Floor((v - s.of.Offset) / s.of.Interval)
		if hard := s.of.Hard; hard != nil {
			if low := floor * s.of.Interval; hard.Least != nil && low < *hard.Least || hard.Greatest != nil && low > *hard.Greatest {
				continue
			}
		}
		at[n], keys[n] = at[j], floor*s.of.Interval+s.of.Offset
		n++
	}
	return at[:n], keys[:n]
}

func (s *realScale) round(v float64) float64 {
	return math.Floor((v-s.of.Offset)/s.of.Interval)*s.of.Interval + s.of.Offset
}

func (s *realScale) next(key float64) float64 { return s.round(key + s.of.Interval + s.of.Interval/2) }

func (s *realScale) ends() (least, greatest *float64) {
	if s.of.Extended == nil {
		return nil, nil
	}
	rounded := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		r := s.round(*v)
		return &r
	}
	return rounded(s.of.Extended.Least), rounded(s.of.Extended.Greatest)
}

func (s *realScale) between(from, to float64) int {
	return int(min(max((to-from)/s.of.Interval, 0), math.MaxInt32))
}

func (s *realScale) bits(key float64) uint64 { return math.Float64bits(key + 0) } // -0 is 0
func (s *realScale) key(bits uint64) float64 { return math.Float64frombits(bits) }

func (s *realScale) appendKey(dst []byte, key float64) []byte { return appendNumber(dst, key) }

func (s *realScale) text(dst []byte, key float64) []byte { return s.values.format.realText(dst, key) }
