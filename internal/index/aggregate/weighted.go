package aggregate

import (
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// weightedAverage is weighted_avg: numbers of one field, weighted by those of another.
type weightedAverage struct {
	n              *node
	of             *WeightedAverage
	value, weight  values
	read, readings numbers
	sums, weights  []compensated
	by             []float64 // the weights of a batch
	have           []bool
}

func newWeightedAverage(n *node, k *WeightedAverage, o Options) worker {
	w := &weightedAverage{n: n, of: k, value: values{of: k.Value, now: o.Now}, weight: values{of: k.Weight, now: o.Now}}
	w.value.of.Format = k.Format
	return w
}

func (w *weightedAverage) prepare(all []search.Index) error {
	w.read.values, w.readings.values = &w.value, &w.weight
	w.value.of.Type, w.weight.of.Type = "double", "double"
	if err := w.value.resolve(w.n.kind, all, takesNumbers|takesTexts, false); err != nil {
		return err
	}
	return w.weight.resolve(w.n.kind, all, takesNumbers|takesTexts, false)
}

func (w *weightedAverage) begin(at search.Place) error {
	w.read.begin(at)
	w.readings.begin(at)
	return nil
}

func (w *weightedAverage) end() error    { return nil }
func (w *weightedAverage) typed() string { return "weighted_avg" }

func (w *weightedAverage) collect(b batch) error {
	if len(w.by) < len(b.docs) {
		w.by, w.have = make([]float64, len(b.docs)), make([]bool, len(b.docs))
	}
	clear(w.have)
	at, f := w.read.reals(b.docs)
	valued := make(map[int32]bool, len(at))
	for _, i := range at {
		valued[i] = true
	}
	weighing, weights := w.readings.reals(b.docs)
	for j, i := range weighing {
		if w.have[i] && valued[i] {
			return exception.New(exception.AggregationExecution, "Encountered more than one weight for a single document. "+
				"Use a script to combine multiple weights-per-doc into a single value.")
		}
		w.have[i], w.by[i] = true, weights[j]
	}
	for j, v := range f {
		i := at[j]
		if !w.have[i] {
			continue
		}
		bucket := int(b.around[i])
		if bucket >= len(w.sums) {
			w.sums, w.weights = grown(w.sums, bucket+1), grown(w.weights, bucket+1)
		}
		w.sums[bucket].add(v * w.by[i])
		w.weights[bucket].add(w.by[i])
	}
	return nil
}

// average is no number when there is nothing with a weight.
func (w *weightedAverage) average(bucket uint32) float64 {
	var sum, weight float64
	if int(bucket) < len(w.sums) {
		sum, weight = w.sums[bucket].sum, w.weights[bucket].sum
	}
	return sum / weight
}

func (w *weightedAverage) measure(key string) (func(bucket uint32) float64, bool) {
	return w.average, key == ""
}

func (w *weightedAverage) append(_ *telling, dst []byte, around uint32) ([]byte, error) {
	dst = member(dst, "value")
	v := w.average(around)
	if v != v {
		return append(dst, "null"...), nil
	}
	dst = appendNumber(dst, v)
	if w.of.Format != "" && w.value.format.kind != plain {
		dst = w.value.format.appendReal(member(dst, "value_as_string"), v)
	}
	return dst, nil
}
