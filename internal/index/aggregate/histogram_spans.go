package aggregate

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// spansOf refuses ranges that a histogram has no buckets for.
func spansOf(kind string, f *fields.Field) error {
	switch {
	case kind == "date_histogram" && f.Type() != "date_range":
		return exception.New(exception.IllegalArgument, "Expected date range type but found range type [%s]", f.Type())
	case f.Type() == "ip_range":
		return exception.New(exception.IllegalArgument, "Expected numeric range type but found non-numeric range [%s]", f.Type())
	}
	return nil
}

// weighedKeys is after how many buckets of ranges it is looked what all take.
const weighedKeys = 1 << 10

// collectSpans counts docs in each bucket that one of their ranges touches, once a bucket.
// Ranges of a doc ascend by their first value, so buckets of one go on behind those of the
// ranges before.
func (w *histogramWorker[K]) collectSpans(b batch) error {
	at, ords := w.spans.read(b.docs)
	var term []byte
	var behind K // the key behind the last one of this doc
	doc, steps := int32(-1), 0
	for j, ord := range ords {
		i := at[j]
		term = w.spans.field.Term(term[:0], ord)
		key, last, err := w.scale.span(w.spans.here, term)
		if err != nil {
			return err
		}
		if i == doc && key < behind {
			key = behind
		}
		for key <= last {
			if steps++; steps%weighedKeys == 0 {
				if err := w.n.memory.weigh(w.n); err != nil {
					return err
				}
			}
			bucket, _ := w.buckets.number(b.around[i], w.scale.bits(key))
			w.count.add(bucket, 1)
			if err := w.n.subs.add(&b, i, bucket); err != nil {
				return err
			}
			next := w.scale.next(key)
			if next <= key { // there is no number between them
				return w.n.memory.tooLarge()
			}
			key, behind, doc = next, next, i
		}
	}
	return nil
}

// span cuts a range at the hard bounds, as the server does: a range outside of them keeps
// the bucket of a bound, where that is the bucket of both its ends.
func (s *dateScale) span(f *fields.Field, term []byte) (first, last int64, err error) {
	from, to := f.Ends(term)
	if s.hardLeast != nil {
		from = max(from, *s.hardLeast)
	}
	if s.hardGreatest != nil {
		to = min(to, *s.hardGreatest)
	}
	if from == math.MinInt64 || to == math.MaxInt64 {
		return 0, 0, exception.New(exception.CircuitBreaking, "Data too large: a range of [%s] has no end, and would need a bucket for each interval of all time; limit them by [hard_bounds]", f.Path()).WithStatus(tooMuch)
	}
	return s.rounding.round(from), s.rounding.round(to), nil
}

// span is that of dateScale.
func (s *realScale) span(f *fields.Field, term []byte) (first, last float64, err error) {
	from, to := f.RealEnds(term)
	if hard := s.of.Hard; hard != nil && hard.Least != nil {
		from = max(from, *hard.Least)
	}
	if hard := s.of.Hard; hard != nil && hard.Greatest != nil {
		to = min(to, *hard.Greatest)
	}
	if math.IsInf(from, 0) || math.IsInf(to, 0) {
		return 0, 0, exception.New(exception.CircuitBreaking, "Data too large: a range of [%s] has no end, and would need a bucket for each interval of all numbers; limit them by [hard_bounds]", f.Path()).WithStatus(tooMuch)
	}
	return s.round(from), s.round(to), nil
}
