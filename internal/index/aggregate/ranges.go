package aggregate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// inner is the number of the i-th of n buckets in one around.
func inner(around uint32, n, i int) uint32 {
	if around == emptyBucket {
		return emptyBucket
	}
	return around*uint32(n) + uint32(i)
}

// rangesWorker is range and date_range.
type rangesWorker struct {
	n       *node
	of      *Ranges
	options Options
	values  values
	read    numbers
	ranges  []numberRange // by their ends
	highs   []float64     // the greatest end of ranges[:i+1]
	count   tally
}

// numberRange is from ≤ v < to.
type numberRange struct {
	key            string
	from, to       float64
	hasFrom, hasTo bool
}

func (w *rangesWorker) prepare(all []search.Index) error {
	w.values = values{of: w.of.Values, now: w.options.Now}
	w.read.values = &w.values
	if len(w.of.Ranges) == 0 {
		return exception.New(exception.IllegalArgument, "No [ranges] specified for the [%s] aggregation", w.n.name)
	}
	if err := w.values.resolve(w.n.kind, all, takesNumbers, w.of.Dates); err != nil {
		return err
	}
	for _, asked := range w.of.Ranges {
		r, err := w.resolveRange(asked)
		if err != nil {
			return err
		}
		w.ranges = append(w.ranges, r)
	}
	slices.SortStableFunc(w.ranges, func(a, b numberRange) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for i, r := range w.ranges {
		w.highs = append(w.highs, r.to)
		if i > 0 {
			w.highs[i] = max(w.highs[i], w.highs[i-1])
		}
	}
	return nil
}

func (w *rangesWorker) resolveRange(asked Range) (r numberRange, err error) {
	r = numberRange{key: asked.Key, from: math.Inf(-1), to: math.Inf(1)}
	if r.hasFrom = asked.From != nil; r.hasFrom {
		if r.from, err = w.bound(*asked.From); err != nil {
			return r, err
		}
	}
	if r.hasTo = asked.To != nil; r.hasTo {
		if r.to, err = w.bound(*asked.To); err != nil {
			return r, err
		}
	}
	if r.key == "" {
		r.key = w.text(r.hasFrom, r.from) + "-" + w.text(r.hasTo, r.to)
	}
	return r, nil
}

// bound reads an end.
func (w *rangesWorker) bound(v fields.Value) (told float64, err error) {
	if v.Kind != token.String && !w.of.Dates || w.values.format.kind == truth {
		told, err = strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return 0, exception.NotNumber(v.Text)
		}
	} else if _, told, err = w.values.number(v); err != nil {
		return 0, err
	}
	return told, nil
}

func (w *rangesWorker) text(there bool, v float64) string {
	if !there {
		return "*"
	}
	return string(w.values.format.realText(nil, v))
}

func (w *rangesWorker) begin(at search.Place) error { w.read.begin(at); return nil }
func (w *rangesWorker) end() error                  { return nil }
func (w *rangesWorker) typed() string               { return w.n.kind }

func (w *rangesWorker) collect(b batch) error {
	at, f := w.read.reals(b.docs)
	low := 0 // ranges below have counted the doc, or are below its numbers
	for j, v := range f {
		i := at[j]
		if j == 0 || i != at[j-1] {
			low = 0
		}
		for k := low; k < len(w.ranges) && w.ranges[k].from <= v; k++ {
			if v >= w.ranges[k].to || v >= w.highs[k] || j > 0 && i == at[j-1] && w.counted(f, at, j, k) {
				continue
			}
			bucket, err := w.n.inside(b.around[i], len(w.ranges), k)
			if err != nil {
				return err
			}
			w.count.add(bucket, 1)
			if err := w.n.subs.add(&b, i, bucket); err != nil {
				return err
			}
		}
	}
	return nil
}

// counted reports whether a smaller number of the doc lies in a range: the one before is
// enough, since numbers of a doc ascend.
func (w *rangesWorker) counted(f []float64, at []int32, j, k int) bool {
	r := &w.ranges[k]
	return at[j-1] == at[j] && f[j-1] >= r.from && f[j-1] < r.to
}

func (w *rangesWorker) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	shape := rangeShape{n: len(w.ranges), keyed: w.of.Keyed, key: func(i int) string { return w.ranges[i].key }}
	return shape.append(t, dst, w.n, &w.count, around, func(dst []byte, i int) []byte {
		r := &w.ranges[i]
		if r.hasFrom {
			dst = w.appendEnd(dst, "from", r.from)
		}
		if r.hasTo {
			dst = w.appendEnd(dst, "to", r.to)
		}
		return dst
	})
}

func (w *rangesWorker) appendEnd(dst []byte, name string, v float64) []byte {
	dst = appendNumber(member(dst, name), v)
	if w.values.format.kind != plain {
		dst = w.values.format.appendObject(member(dst, name+"_as_string"), v)
	}
	return dst
}

// rangeShape is how buckets of ranges are told.
type rangeShape struct {
	n     int
	keyed bool
	key   func(i int) string
}

func (s rangeShape) append(t *telling, dst []byte, n *node, count *tally, around uint32, ends func(dst []byte, i int) []byte) ([]byte, error) {
	if err := t.bucket(s.n); err != nil {
		return dst, err
	}
	open, closing := byte('['), byte(']')
	if s.keyed {
		open, closing = '{', '}'
	}
	dst = append(member(dst, "buckets"), open)
	for i := range s.n {
		if i > 0 {
			dst = append(dst, ',')
		}
		key := token.AppendString(nil, []byte(s.key(i)))
		if s.keyed {
			dst = append(append(dst, key...), `:{`...)
		} else {
			dst = append(append(dst, `{"key":`...), key...)
		}
		dst = ends(dst, i)
		bucket := inner(around, s.n, i)
		dst = strconv.AppendInt(member(dst, "doc_count"), count.of(bucket), 10)
		var err error
		if dst, err = n.subs.append(t, dst, bucket); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return append(dst, closing), nil
}
