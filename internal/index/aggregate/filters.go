package aggregate

import (
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// filtersWorker is filters.
type filtersWorker struct {
	n        *node
	of       *Filters
	matching []matching
	found    []*segment.Bits
	count    tally
}

func (w *filtersWorker) prepare([]search.Index) error {
	w.matching = make([]matching, len(w.of.Filters))
	w.found = make([]*segment.Bits, len(w.of.Filters))
	for i, f := range w.of.Filters {
		w.matching[i].query, w.matching[i].around = f.Query, w.n.scope()
	}
	return nil
}

func (w *filtersWorker) begin(at search.Place) (err error) {
	for i := range w.matching {
		if w.found[i], err = w.matching[i].begin(at); err != nil {
			return err
		}
	}
	return nil
}

func (w *filtersWorker) end() error    { return nil }
func (w *filtersWorker) typed() string { return "filters" }

// buckets is how many there are.
func (w *filtersWorker) buckets() int {
	if w.of.Other {
		return len(w.of.Filters) + 1
	}
	return len(w.of.Filters)
}

func (w *filtersWorker) collect(b batch) error {
	n := w.buckets()
	put := func(i, k int) error {
		bucket, err := w.n.inside(b.around[i], n, k)
		if err != nil {
			return err
		}
		w.count.add(bucket, 1)
		return w.n.subs.add(&b, int32(i), bucket)
	}
	for i, doc := range b.docs {
		other := w.of.Other
		for k, found := range w.found {
			if !found.Has(doc) {
				continue
			}
			other = false
			if err := put(i, k); err != nil {
				return err
			}
		}
		if other {
			if err := put(i, n-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *filtersWorker) name(k int) string {
	switch {
	case k < len(w.of.Filters):
		return w.of.Filters[k].Name
	case w.of.OtherAs != "":
		return w.of.OtherAs
	}
	return "_other_"
}

func (w *filtersWorker) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	open, closing := byte('['), byte(']')
	if w.of.Named {
		open, closing = '{', '}'
	}
	dst = append(member(dst, "buckets"), open)
	n := w.buckets()
	if err := t.bucket(n); err != nil {
		return dst, err
	}
	for k := range n {
		if k > 0 {
			dst = append(dst, ',')
		}
		if w.of.Named {
			dst = append(token.AppendString(dst, []byte(w.name(k))), ':')
		}
		bucket := inner(around, n, k)
		dst = strconv.AppendInt(append(dst, `{"doc_count":`...), w.count.of(bucket), 10)
		var err error
		if dst, err = w.n.subs.append(t, dst, bucket); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return append(dst, closing), nil
}
