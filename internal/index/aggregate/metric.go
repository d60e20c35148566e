package aggregate

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// newMetric makes the worker of a metric.
func newMetric(n *node, k *Metric, o Options) worker {
	v := values{of: k.Values, now: o.Now}
	if k.Of == "value_count" {
		return &valueCount{n: n, values: v}
	}
	w := &statistic{n: n, of: k}
	w.values = v
	return w
}

// statistic is min, max, avg, sum, stats and extended_stats: all are made of the same
// sums. A bucket takes 40 bytes, 56 for extended_stats.
type statistic struct {
	n       *node
	of      *Metric
	values  values
	read    numbers
	moments []moments
	squares []compensated // of extended_stats
}

// moments are of the numbers of a bucket.
type moments struct {
	count          int64
	sum            compensated
	least, biggest float64 // when count is above 0
}

// compensated is a sum as Kahan computes it; the server does it so.
type compensated struct{ sum, lost float64 }

func (c *compensated) add(v float64) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		c.sum += v
	}
	if !math.IsInf(c.sum, 0) && !math.IsNaN(c.sum) {
		corrected := v + c.lost
		updated := c.sum + corrected
		c.lost = corrected - (updated - c.sum)
		c.sum = updated
	}
}

func (w *statistic) prepare(all []search.Index) error {
	w.read.values = &w.values
	return w.values.resolve(w.n.kind, all, takesNumbers, false)
}

func (w *statistic) begin(at search.Place) error { w.read.begin(at); return nil }
func (w *statistic) end() error                  { return nil }
func (w *statistic) typed() string               { return w.n.kind }

func (w *statistic) collect(b batch) error {
	at, f := w.read.reals(b.docs)
	extended := w.of.Of == "extended_stats"
	for j, v := range f {
		bucket := b.around[at[j]]
		if int(bucket) >= len(w.moments) {
			w.moments = grown(w.moments, int(bucket)+1)
		}
		m := &w.moments[bucket]
		if m.count == 0 {
			m.least, m.biggest = v, v
		}
		m.count++
		m.sum.add(v)
		m.least, m.biggest = min(m.least, v), max(m.biggest, v)
		if extended {
			if int(bucket) >= len(w.squares) {
				w.squares = grown(w.squares, int(bucket)+1)
			}
			w.squares[bucket].add(v * v)
		}
	}
	return nil
}

// at are the moments of a bucket; those of none have infinite ends.
func (w *statistic) at(bucket uint32) moments {
	if int(bucket) >= len(w.moments) || w.moments[bucket].count == 0 {
		return moments{least: math.Inf(1), biggest: math.Inf(-1)}
	}
	return w.moments[bucket]
}

func (m *moments) average() float64 {
	return m.sum.sum / float64(m.count) // no number when there is none
}

func (w *statistic) measure(key string) (func(bucket uint32) float64, bool) {
	of := w.of.Of
	switch {
	case of == "extended_stats" && key != "":
		if f := extendedMeasure(key, w); f != nil {
			return f, true
		}
	case of != "stats" && key == "":
		key = of
	case of != "stats":
		return nil, false
	}
	switch key {
	case "min":
		return func(b uint32) float64 { return w.at(b).least }, true
	case "max":
		return func(b uint32) float64 { return w.at(b).biggest }, true
	case "avg":
		return func(b uint32) float64 { m := w.at(b); return m.average() }, true
	case "sum":
		return func(b uint32) float64 { return w.at(b).sum.sum }, true
	case "count":
		return func(b uint32) float64 { return float64(w.at(b).count) }, true
	}
	return nil, false
}

func (w *statistic) append(_ *telling, dst []byte, around uint32) ([]byte, error) {
	m := w.at(around)
	switch w.of.Of {
	case "stats", "extended_stats":
		return w.appendStats(dst, around), nil
	case "min":
		return w.appendValue(dst, m.least, m.count > 0), nil
	case "max":
		return w.appendValue(dst, m.biggest, m.count > 0), nil
	case "avg":
		return w.appendValue(dst, m.average(), m.count > 0), nil
	}
	return w.appendValue(dst, m.sum.sum, true), nil
}

// appendValue appends a number, and its text.
func (w *statistic) appendValue(dst []byte, v float64, there bool) []byte {
	dst = member(dst, "value")
	if !there || w.n.kind == "min" && math.IsInf(v, 1) || w.n.kind == "max" && math.IsInf(v, -1) {
		return append(dst, "null"...)
	}
	dst = appendNumber(dst, v)
	if w.values.format.kind != plain {
		dst = w.values.format.appendReal(member(dst, "value_as_string"), v)
	}
	return dst
}

// appendStats appends the members of stats, and of extended_stats.
func (w *statistic) appendStats(dst []byte, bucket uint32) []byte {
	m := w.at(bucket)
	dst = strconv.AppendInt(member(dst, "count"), m.count, 10)
	if m.count == 0 {
		dst = append(dst, `,"min":null,"max":null,"avg":null,"sum":0.0`...)
		if w.of.Of == "extended_stats" {
			dst = append(dst, noExtended...)
		}
		return dst
	}
	figures := [...]figure{{"min", m.least}, {"max", m.biggest}, {"avg", m.average()}, {"sum", m.sum.sum}}
	for _, f := range figures {
		dst = appendNumber(member(dst, f.name), f.v)
	}
	if w.values.format.kind != plain {
		for _, f := range figures {
			dst = w.values.format.appendObject(member(dst, f.name+"_as_string"), f.v)
		}
	}
	if w.of.Of == "extended_stats" {
		dst = w.appendExtended(dst, bucket)
	}
	return dst
}

// valueCount is value_count: of numbers, terms, and what else there is.
type valueCount struct {
	n      *node
	values values
	count  tally

	numbers *segment.NumberColumn
	terms   *segment.OrdinalColumn
	exists  *segment.Bits // nil: in no doc
	every   bool
}

func (w *valueCount) prepare(all []search.Index) error {
	return w.values.resolve(w.n.kind, all, takesAll, false)
}

func (w *valueCount) begin(at search.Place) error {
	w.numbers, w.terms, w.exists, w.every = nil, nil, nil, false
	here := w.values.fields[at.Index]
	if here == nil {
		return nil
	}
	switch here.Type() {
	case "_id", "_index", "_seq_no", "constant_keyword":
		w.every = true
		return nil
	}
	f := at.View.Field(here.Name())
	if f == nil {
		return nil
	}
	switch {
	case here.Kind() == fields.Interval: // all ranges of a doc are one value
		w.exists = f.Existing()
		w.every = w.exists == nil
	case f.Numbers() != nil:
		w.numbers = f.Numbers()
	case f.Ordinals() != nil:
		w.terms = f.Ordinals()
	}
	return nil
}

func (w *valueCount) collect(b batch) error {
	var n []int64
	var ords []uint32
	for i, doc := range b.docs {
		found := 0
		switch {
		case w.every || w.exists != nil && w.exists.Has(doc):
			found = 1
		case w.numbers != nil:
			n = w.numbers.All(n[:0], doc)
			found = len(n)
		case w.terms != nil:
			ords = w.terms.All(ords[:0], doc)
			found = len(ords)
		}
		if found == 0 && w.values.missing {
			found = 1
		}
		w.count.add(b.around[i], int64(found))
	}
	return nil
}

func (w *valueCount) end() error    { return nil }
func (w *valueCount) typed() string { return "value_count" }

func (w *valueCount) measure(key string) (func(bucket uint32) float64, bool) {
	return func(b uint32) float64 { return float64(w.count.of(b)) }, key == ""
}

func (w *valueCount) append(_ *telling, dst []byte, around uint32) ([]byte, error) {
	return strconv.AppendInt(member(dst, "value"), w.count.of(around), 10), nil
}

// appendAddress appends the JSON of an IP address.
func appendAddress(dst, term []byte) []byte {
	return token.AppendString(dst, []byte(addressText(term)))
}
