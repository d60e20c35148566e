package aggregate

import (
	"math"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// termsWorker is terms: what terms of texts and of numbers have in common.
type termsWorker struct {
	n       *node
	of      *Terms
	options Options

	values  values
	buckets numbering // keys: number of a term; bits of a number
	count   tally
	order   ordering
	keys    termKeys
}

// termKeys are the kinds of terms: *textKeys and *numberKeys.
type termKeys interface {
	begin(at search.Place)
	collect(b batch) error
	// end is behind the last doc of a view: it looks for terms of documents that were not
	// found, when they are told.
	end()
	// done is called when all views have been seen.
	done()
	// unseen gives the buckets of such terms in a bucket around, and those that are there.
	unseen(around uint32) []uint32
	compare(a, b uint32) int
	appendKey(dst []byte, bucket uint32) []byte
	typed() string
}

func (w *termsWorker) prepare(all []search.Index) error {
	w.values = values{of: w.of.Values, now: w.options.Now}
	err := w.values.resolve(w.n.kind, all, takesTexts|takesNumbers, false)
	if err != nil {
		return err
	}
	if w.values.class == texts && w.of.Hint != "" && w.of.Hint != "map" && w.of.Hint != "global_ordinals" {
		return exception.New(exception.IllegalArgument, "Unknown `execution_hint`: [%s], expected any of [map, global_ordinals]", w.of.Hint)
	}
	choice, err := w.choose()
	if err != nil {
		return err
	}
	if w.values.field == nil && !w.values.missing {
		w.values.class = texts // what the server tells of no terms
	}
	if w.values.class == texts {
		w.keys = newTextKeys(w, choice)
	} else {
		w.keys = &numberKeys{w: w, read: numbers{values: &w.values}, choice: choice}
	}
	if w.values.field == nil && !w.values.missing {
		return nil
	}
	if w.order, err = w.n.order(w.of.Order, []Order{{By: "_count", Descending: true}}); err != nil {
		return err
	}
	w.order.byKey = w.keys.compare
	w.order.count = func(bucket uint32) int64 { return w.count.of(bucket) }
	return nil
}

func (w *termsWorker) begin(at search.Place) error { w.keys.begin(at); return nil }

func (w *termsWorker) whole() bool {
	k, ok := w.keys.(*textKeys)
	return ok && k.tallies.on && k.tallies.all(&k.read)
}

func (w *termsWorker) collect(b batch) error { return w.keys.collect(b) }

func (w *termsWorker) end() error {
	w.keys.end()
	return nil
}

func (w *termsWorker) typed() string { return w.keys.typed() }

// sizes are how many buckets are told, and how many a shard of the server would tell
// before they are joined.
func (w *termsWorker) sizes() (size, shard int) {
	size, shard = w.of.Size, w.of.ShardSize
	if size == 0 {
		size = 10
	}
	if shard == 0 && !w.order.keyFirst() {
		shard = int(min(int64(float64(size)*1.5)+10, math.MaxInt32))
	}
	return size, max(shard, size)
}

func (w *termsWorker) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	var told []uint32
	other := int64(0)
	w.keys.done()
	if err := w.n.memory.weigh(w.n); err != nil {
		return dst, err
	}
	if w.order.by != nil {
		told, other = w.best(around)
	}
	dst = strconv.AppendInt(append(member(dst, "doc_count_error_upper_bound"), `0,"sum_other_doc_count":`...), other, 10)
	dst = append(dst, `,"buckets":[`...)
	for i, bucket := range told {
		if i > 0 {
			dst = append(dst, ',')
		}
		if err := t.bucket(1); err != nil {
			return dst, err
		}
		dst = w.keys.appendKey(append(dst, '{'), bucket)
		dst = strconv.AppendInt(append(dst, `,"doc_count":`...), w.count.of(bucket), 10)
		if w.of.ShowError {
			dst = append(dst, `,"doc_count_error_upper_bound":0`...)
		}
		var err error
		if dst, err = w.n.subs.append(t, dst, bucket); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}

// best gives the buckets that are told in a bucket around, and how many docs the others
// have. The server leaves out of the latter those that are too small, if its one shard
// told them at all: so do we.
func (w *termsWorker) best(around uint32) (told []uint32, other int64) {
	all := w.buckets.within(around)
	if w.of.MinDocCount == 0 && around != emptyBucket {
		all = w.keys.unseen(around)
	}
	size, shard := w.sizes()
	told = w.order.best(all, shard)
	for _, b := range all {
		other += w.count.of(b)
	}
	told = slices.DeleteFunc(told, func(b uint32) bool {
		if w.count.of(b) < w.of.MinDocCount {
			other -= w.count.of(b)
			return true
		}
		return false
	})
	told = told[:min(size, len(told))]
	for _, b := range told {
		other -= w.count.of(b)
	}
	return told, other
}
