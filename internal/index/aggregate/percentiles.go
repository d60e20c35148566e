package aggregate

import (
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// percentilesWorker is percentiles and percentile_ranks.
type percentilesWorker struct {
	n       *node
	of      *Percentiles
	values  values
	read    numbers
	points  []float64
	digests []*digest
	taken   int64 // bytes of what is in digests
}

func newPercentiles(n *node, k *Percentiles, o Options) worker {
	w := &percentilesWorker{n: n, of: k, points: k.Points, values: values{of: k.Values, now: o.Now}}
	if w.points == nil {
		w.points = []float64{1, 5, 25, 50, 75, 95, 99}
	}
	return w
}

func (w *percentilesWorker) prepare(all []search.Index) error {
	w.read.values = &w.values
	return w.values.resolve(w.n.kind, all, takesNumbers, false)
}

func (w *percentilesWorker) begin(at search.Place) error { w.read.begin(at); return nil }
func (w *percentilesWorker) end() error                  { return nil }
func (w *percentilesWorker) typed() string               { return "tdigest_" + w.n.kind }

func (w *percentilesWorker) collect(b batch) error {
	at, f := w.read.reals(b.docs)
	for j, v := range f {
		bucket := b.around[at[j]]
		if int(bucket) >= len(w.digests) {
			w.digests = grown(w.digests, int(bucket)+1)
		}
		d := w.digests[bucket]
		if d == nil {
			d = &digest{compression: w.of.Compression}
			if w.of.Compression == 0 {
				d.compression = 100
			}
			w.digests[bucket] = d
			w.taken += d.size()
		}
		before := d.size()
		d.add(v, 1)
		w.taken += d.size() - before
	}
	return nil
}

// figure is what is told of a point.
func (w *percentilesWorker) figure(bucket uint32, point float64) float64 {
	d := &digest{}
	if int(bucket) < len(w.digests) && w.digests[bucket] != nil {
		d = w.digests[bucket]
	}
	if w.of.Ranks {
		return d.part(point) * 100
	}
	return d.quantile(point / 100)
}

func (w *percentilesWorker) measure(key string) (func(bucket uint32) float64, bool) {
	point, err := strconv.ParseFloat(key, 64)
	if err != nil || !slices.Contains(w.points, point) {
		return nil, false
	}
	return func(b uint32) float64 { return w.figure(b, point) }, true
}

func (w *percentilesWorker) append(_ *telling, dst []byte, around uint32) ([]byte, error) {
	open, closing := byte('['), byte(']')
	if w.of.Keyed {
		open, closing = '{', '}'
	}
	dst = append(member(dst, "values"), open)
	for i, point := range w.points {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.appendPoint(dst, point, w.figure(around, point))
	}
	return append(dst, closing), nil
}

func (w *percentilesWorker) appendPoint(dst []byte, point, v float64) []byte {
	told := !(v != v)
	text := java.Double(point)
	asText := "value_as_string"
	if w.of.Keyed {
		asText = text + "_as_string"
		dst = append(append(append(dst, '"'), text...), `":`...)
	} else {
		dst = append(append(append(dst, `{"key":`...), text...), `,"value":`...)
	}
	if !told {
		dst = append(dst, "null"...)
	} else {
		dst = appendNumber(dst, v)
		if w.values.format.kind != plain {
			dst = w.values.format.appendReal(member(dst, asText), v)
		}
	}
	if !w.of.Keyed {
		dst = append(dst, '}')
	}
	return dst
}
