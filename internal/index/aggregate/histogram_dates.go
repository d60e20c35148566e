package aggregate

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

func newDateHistogram(n *node, k *DateHistogram, o Options) worker {
	w := &histogramWorker[int64]{n: n, order: k.Order, keyed: k.Keyed, least: k.MinDocCount, dated: true}
	w.values = values{of: k.Values, now: o.Now}
	w.scale = &dateScale{of: k, name: n.name}
	return w
}

// dateScale cuts time into intervals.
type dateScale struct {
	of       *DateHistogram
	name     string
	values   *values
	rounding *rounding

	extendedLeast, extendedGreatest *int64 // rounded
	hardLeast, hardGreatest         *int64
}

func (s *dateScale) prepare(v *values) (err error) {
	s.values = v
	if s.rounding, err = newRounding(s.of.Calendar, s.of.Fixed, s.of.Offset, s.of.Zone); err != nil {
		return err
	}
	if s.extendedLeast, s.extendedGreatest, err = s.bounds(s.of.Extended, "extended_bounds"); err != nil {
		return err
	}
	if s.hardLeast, s.hardGreatest, err = s.bounds(s.of.Hard, "hard_bounds"); err != nil {
		return err
	}
	outside := func(a, b *int64) bool { return a != nil && b != nil && *a < *b }
	if outside(s.extendedLeast, s.hardLeast) || outside(s.hardGreatest, s.extendedGreatest) {
		return exception.New(exception.IllegalArgument, "Extended bounds have to be inside hard bounds, hard bounds: [%s], extended bounds: [%s]",
			s.of.Hard.text(), s.of.Extended.text())
	}
	// As on the server, ends are rounded as if there were no offset; those up to which gaps
	// are filled get it afterwards.
	for _, end := range []*int64{s.extendedLeast, s.extendedGreatest, s.hardLeast, s.hardGreatest} {
		if end != nil {
			*end = s.rounding.start(*end)
		}
	}
	for _, end := range []*int64{s.extendedLeast, s.extendedGreatest} {
		if end != nil {
			*end += s.of.Offset
		}
	}
	return nil
}

func (b *DateBounds) text() string {
	end := func(v *fields.Value) string {
		if v == nil {
			return ""
		}
		return v.Text
	}
	return end(b.Least) + "--" + end(b.Greatest)
}

// bounds reads the ends, which are dates of the format.
func (s *dateScale) bounds(b *DateBounds, name string) (least, greatest *int64, err error) {
	if b == nil {
		return nil, nil, nil
	}
	end := func(v *fields.Value) (*int64, error) {
		if v == nil {
			return nil, nil
		}
		n, err := s.values.day(v.Text)
		return &n, err
	}
	if least, err = end(b.Least); err != nil {
		return nil, nil, err
	}
	if greatest, err = end(b.Greatest); err != nil {
		return nil, nil, err
	}
	if least != nil && greatest != nil && *least > *greatest {
		return nil, nil, exception.New(exception.IllegalArgument, "[%s.min][%d] cannot be greater than [%s.max][%d] for histogram aggregation [%s]",
			name, *least, name, *greatest, s.name)
	}
	return least, greatest, nil
}

func (s *dateScale) keys(r *numbers, docs []segment.Doc) (at []int32, keys []int64) {
	if r.class == wholes {
		at, keys = r.wholes(docs)
	} else {
		var f []float64
		at, f = r.reals(docs)
		keys = r.n
		for i, v := range f {
			keys[i] = java.Long(v)
		}
	}
	n := 0
	for j, v := range keys {
		key := s.rounding.round(v)
		if s.hardLeast != nil && key < *s.hardLeast || s.hardGreatest != nil && key >= *s.hardGreatest {
			continue
		}
		at[n], keys[n] = at[j], key
		n++
	}
	return at[:n], keys[:n]
}

func (s *dateScale) next(key int64) int64 { return s.rounding.after(key) }

func (s *dateScale) ends() (least, greatest *int64) { return s.extendedLeast, s.extendedGreatest }

func (s *dateScale) between(from, to int64) int {
	if span := s.rounding.span(); span > 0 && to > from {
		return int(min(uint64(to-from)/uint64(span), math.MaxInt32))
	}
	return 0
}

func (s *dateScale) bits(key int64) uint64 { return uint64(key) }
func (s *dateScale) key(bits uint64) int64 { return int64(bits) }

func (s *dateScale) appendKey(dst []byte, key int64) []byte { return strconv.AppendInt(dst, key, 10) }

func (s *dateScale) text(dst []byte, key int64) []byte { return s.values.format.wholeText(dst, key) }
