package aggregate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// ordering compares buckets by the keys of an order. Keys are compared by what the
// aggregation gives.
type ordering struct {
	by    []rank
	byKey func(a, b uint32) int
	count func(bucket uint32) int64
}

// rank is one key of an order.
type rank struct {
	kind       rankKind
	descending bool
	measure    func(bucket uint32) float64
}

type rankKind uint8

const (
	byCount rankKind = iota
	byKey
	byMeasure
)

// order works out an order over the aggregations below. Ties are broken by key.
func (n *node) order(asked, otherwise []Order) (ordering, error) {
	if len(asked) == 0 {
		asked = otherwise
	}
	var o ordering
	for _, a := range asked {
		r := rank{descending: a.Descending}
		switch a.By {
		case "_count":
			r.kind = byCount
		case "_key":
			r.kind = byKey
		default:
			r.kind = byMeasure
			var mistake string
			if r.measure, mistake = n.subs.measure(a.By); mistake != "" {
				return o, exception.New(exception.AggregationExecution, "Invalid aggregation order path [%s]. %s", a.By, mistake).
					CausedBy(exception.New(exception.IllegalArgument, "%s", mistake))
			}
		}
		o.by = append(o.by, r)
	}
	if len(o.by) == 0 || o.by[len(o.by)-1].kind != byKey {
		o.by = append(o.by, rank{kind: byKey})
	}
	return o, nil
}

// keyFirst reports whether keys alone decide.
func (o *ordering) keyFirst() bool { return o.by[0].kind == byKey }

func (o *ordering) compare(a, b uint32) int {
	for i := range o.by {
		r := &o.by[i]
		c := 0
		switch r.kind {
		case byCount:
			c = cmp.Compare(o.count(a), o.count(b))
		case byKey:
			c = o.byKey(a, b)
		case byMeasure:
			c = r.compareMeasures(a, b)
		}
		if c != 0 {
			if r.descending && r.kind != byMeasure {
				return -c
			}
			return c
		}
	}
	return 0
}

// compareMeasures puts what is no number last, whatever the direction.
func (r *rank) compareMeasures(a, b uint32) int {
	x, y := r.measure(a), r.measure(b)
	switch {
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x):
		return 1
	case math.IsNaN(y):
		return -1
	case r.descending:
		return cmp.Compare(y, x)
	}
	return cmp.Compare(x, y)
}

// best gives the first n of some buckets in order.
func (o *ordering) best(buckets []uint32, n int) []uint32 {
	if n >= len(buckets) || n > 1<<16 {
		all := slices.Clone(buckets)
		slices.SortFunc(all, o.compare)
		return all[:min(n, len(all))]
	}
	// A heap of the best so far, the worst of them on top.
	heap := slices.Clone(buckets[:n])
	for i := n/2 - 1; i >= 0; i-- {
		o.sink(heap, i)
	}
	for _, b := range buckets[n:] {
		if n > 0 && o.compare(b, heap[0]) < 0 {
			heap[0] = b
			o.sink(heap, 0)
		}
	}
	slices.SortFunc(heap, o.compare)
	return heap
}

func (o *ordering) sink(heap []uint32, i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if o.compare(heap[child], heap[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}

const (
	noSuch    = "The provided aggregation [%s] either does not exist, or is a pipeline aggregation and cannot be used to sort the buckets."
	notSingle = "Buckets can only be sorted on a sub-aggregator path that is built out of zero or more single-bucket aggregations within the path and a final single-bucket or a metrics aggregation at the path end."
)

// measure finds what a path means: names of aggregations with one bucket, between >, and
// that of a metric, with a key of it behind a dot or in brackets.
func (c *children) measure(path string) (func(bucket uint32) float64, string) {
	first, rest, deeper := strings.Cut(path, ">")
	name, key := first, ""
	if !deeper {
		name, key = cutMetric(first)
	}
	i := slices.IndexFunc(c.nodes, func(n *node) bool { return n.name == name })
	if i < 0 {
		return nil, strings.Replace(noSuch, "%s", name, 1)
	}
	n := c.nodes[i]
	one, isSingle := n.worker.(singleBucket)
	if deeper {
		if !isSingle {
			return nil, notSingle
		}
		return n.subs.measure(rest)
	}
	if isSingle {
		if key != "" && key != "doc_count" {
			return nil, `Ordering on a single-bucket aggregation can only be done on its doc_count. Either drop the key (a la "` + name +
				`") or change it to "doc_count" (a la "` + name + `.doc_count") or "key".`
		}
		return func(b uint32) float64 { return float64(one.docs(b)) }, ""
	}
	m, ok := n.worker.(measured)
	if !ok {
		return nil, notSingle
	}
	return measureOf(m, name, key)
}

func measureOf(m measured, name, key string) (func(bucket uint32) float64, string) {
	if f, ok := m.measure(key); ok {
		return f, ""
	}
	_, one := m.measure("")
	switch {
	case one && key == "value":
		f, _ := m.measure("")
		return f, ""
	case one:
		return nil, `Ordering on a single-value metrics aggregation can only be done on its value. Either drop the key (a la "` + name +
			`") or change it to "value" (a la "` + name + `.value")`
	case key == "":
		return nil, "When ordering on a multi-value metrics aggregation a metric name must be specified."
	}
	return nil, "Unknown metric name [" + key + "] on multi-value metrics aggregation [" + name + "]"
}

// cutMetric parts "name.key" and "name[key]".
func cutMetric(element string) (name, key string) {
	if open := strings.LastIndexByte(element, '['); open > 0 && strings.HasSuffix(element, "]") {
		return element[:open], element[open+1 : len(element)-1]
	}
	if strings.Count(element, ".") == 1 {
		name, key, _ = strings.Cut(element, ".")
		return name, key
	}
	return element, ""
}
