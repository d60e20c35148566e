package aggregate

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// emptyBucket is the number of a bucket in which no doc is: a gap of a histogram.
const emptyBucket = ^uint32(0)

// number is what keys of histograms are: doubles, or times in milliseconds.
type number interface{ int64 | float64 }

// scale is what histograms of numbers and of dates differ in.
type scale[K number] interface {
	// prepare is called when the values are known.
	prepare(v *values) error
	// keys finds the keys of the docs: keys[i] is of docs[at[i]], and those of a doc ascend.
	keys(r *numbers, docs []segment.Doc) (at []int32, keys []K)
	// span finds the first and the last key of a range that a doc holds: first is behind last
	// where bounds leave nothing of it.
	span(f *fields.Field, term []byte) (first, last K, err error)
	// next is the key behind one.
	next(key K) K
	// ends are the keys up to which buckets are told although no doc is in them.
	ends() (least, greatest *K)
	bits(key K) uint64
	key(bits uint64) K
	// appendKey appends the JSON of a key, text its text without quotes: that of the format,
	// or else of the key.
	appendKey(dst []byte, key K) []byte
	text(dst []byte, key K) []byte
	// between is how many keys there are from one to another, at least.
	between(from, to K) int
}

// histogramWorker is histogram and date_histogram.
type histogramWorker[K number] struct {
	n       *node
	order   []Order
	keyed   bool
	least   int64 // min_doc_count
	dated   bool
	values  values
	read    numbers
	spans   terms // ranges, in views that have them
	scale   scale[K]
	buckets numbering
	count   tally
	by      ordering
}

func (w *histogramWorker[K]) prepare(all []search.Index) error {
	w.read.values, w.spans.values = &w.values, &w.values
	if err := w.values.resolve(w.n.kind, all, takesNumbers|takesSpans, w.dated); err != nil {
		return err
	}
	if err := w.scale.prepare(&w.values); err != nil {
		return err
	}
	var err error
	w.by, err = w.n.order(w.order, []Order{{By: "_key"}})
	if err != nil && w.values.field == nil {
		err = nil
	}
	return err
}

func (w *histogramWorker[K]) begin(at search.Place) error {
	w.read.begin(at)
	w.spans.begin(at)
	return nil
}

func (w *histogramWorker[K]) end() error    { return nil }
func (w *histogramWorker[K]) typed() string { return w.n.kind }

func (w *histogramWorker[K]) collect(b batch) error {
	if here := w.spans.here; here != nil && here.Kind() == fields.Interval {
		return w.collectSpans(b)
	}
	at, keys := w.scale.keys(&w.read, b.docs)
	for j, key := range keys {
		i := at[j]
		if j > 0 && i == at[j-1] && key == keys[j-1] {
			continue // once a bucket
		}
		bucket, _ := w.buckets.number(b.around[i], w.scale.bits(key))
		w.count.add(bucket, 1)
		if err := w.n.subs.add(&b, i, bucket); err != nil {
			return err
		}
	}
	return nil
}

// slot is a bucket as it is told; several may be the emptyBucket.
type slot[K number] struct {
	key    K
	bucket uint32
	docs   int64
}

// slots are the buckets in one around, by key, with those that fill gaps.
func (w *histogramWorker[K]) slots(t *telling, around uint32) ([]slot[K], error) {
	var found []slot[K]
	for _, b := range w.buckets.within(around) {
		found = append(found, slot[K]{w.scale.key(w.buckets.keys[b]), b, w.count.of(b)})
	}
	slices.SortFunc(found, func(a, b slot[K]) int { return cmp.Compare(a.key, b.key) })
	if w.least > 0 {
		found = slices.DeleteFunc(found, func(s slot[K]) bool { return s.docs < w.least })
		return found, t.bucket(len(found))
	}
	return w.fill(t, found)
}

// fill puts empty buckets into gaps.
func (w *histogramWorker[K]) fill(t *telling, found []slot[K]) ([]slot[K], error) {
	least, greatest := w.scale.ends()
	var all []slot[K]
	total := 0
	put := func(s slot[K]) {
		if total++; t.buckets+total <= t.most {
			all = append(all, s)
		}
	}
	// until fills up to a key, which is not filled itself.
	until := func(from, to K) {
		if n := w.scale.between(from, to); n > t.most+1 {
			total += n
			return
		}
		for key := from; key < to && total < countedGaps; key = w.scale.next(key) {
			put(slot[K]{key: key, bucket: emptyBucket})
		}
	}
	switch {
	case len(found) == 0 && (least == nil || greatest == nil):
	case len(found) == 0:
		if *least <= *greatest {
			until(*least, w.scale.next(*greatest))
		}
	default:
		if least != nil {
			until(*least, found[0].key)
		}
		for i, s := range found {
			put(s)
			if i+1 < len(found) {
				until(w.scale.next(s.key), found[i+1].key)
			}
		}
		if last := found[len(found)-1].key; greatest != nil && *greatest > last {
			until(w.scale.next(last), w.scale.next(*greatest))
		}
	}
	return all, t.bucket(total)
}

// countedGaps is up to where buckets beyond the limit are still counted, for the message.
const countedGaps = 1 << 22

// sort puts buckets into the order that is asked for.
func (w *histogramWorker[K]) sort(all []slot[K]) []slot[K] {
	switch first := w.by.by[0]; {
	case first.kind == byKey && first.descending:
		slices.Reverse(all)
		return all
	case first.kind == byKey:
		return all
	}
	by := ordering{
		count: func(i uint32) int64 { return all[i].docs },
		byKey: func(a, b uint32) int { return cmp.Compare(all[a].key, all[b].key) },
	}
	for _, r := range w.by.by {
		if of := r.measure; of != nil {
			r.measure = func(i uint32) float64 { return of(all[i].bucket) }
		}
		by.by = append(by.by, r)
	}
	indices := make([]uint32, len(all))
	for i := range indices {
		indices[i] = uint32(i)
	}
	sorted := make([]slot[K], 0, len(all))
	for _, i := range by.best(indices, len(indices)) {
		sorted = append(sorted, all[i])
	}
	return sorted
}

func (w *histogramWorker[K]) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	all, err := w.slots(t, around)
	if err != nil {
		return dst, err
	}
	if len(w.by.by) > 0 {
		all = w.sort(all)
	}
	open, closing := byte('['), byte(']')
	if w.keyed {
		open, closing = '{', '}'
	}
	dst = append(member(dst, "buckets"), open)
	var text []byte
	for i, s := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		text = w.scale.text(text[:0], s.key)
		if w.keyed {
			dst = append(token.AppendString(dst, text), ':')
		}
		dst = append(dst, '{')
		if w.values.format.kind != plain {
			dst = token.AppendString(member(dst, "key_as_string"), text)
		}
		dst = w.scale.appendKey(member(dst, "key"), s.key)
		dst = strconv.AppendInt(append(dst, `,"doc_count":`...), s.docs, 10)
		if dst, err = w.n.subs.append(t, dst, s.bucket); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return append(dst, closing), nil
}
