package aggregate

import (
	"bytes"
	"container/heap"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// compositeWorker is composite. Keys are written so that their bytes have the order that
// is asked for; of those behind the page before, the first ones are kept. Buckets of keys
// that had to make room keep their numbers, and are not told.
type compositeWorker struct {
	n       *node
	of      *Composite
	options Options
	sources []*compositeSource
	after   []byte // nil: from the start

	kept   keyHeap
	bucket map[string]uint32
	count  tally
	next   uint32

	key []byte
}

// keyHeap has the greatest key on top.
type keyHeap []string

func (h keyHeap) Len() int           { return len(h) }
func (h keyHeap) Less(i, j int) bool { return h[i] > h[j] }
func (h keyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *keyHeap) Push(x any)        { *h = append(*h, x.(string)) }
func (h *keyHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (w *compositeWorker) prepare(all []search.Index) error {
	if w.of.Size < 1 {
		return exception.New(exception.IllegalArgument, "[size] must be greater than 0. Found [%d] in [%s]", w.of.Size, w.n.name)
	}
	if w.of.Size > w.options.MaxBuckets {
		return tooManyBuckets(w.options.MaxBuckets, w.of.Size)
	}
	w.bucket = map[string]uint32{}
	for i := range w.of.Sources {
		s := &compositeSource{of: &w.of.Sources[i]}
		if err := s.prepare(w, all); err != nil {
			return err
		}
		w.sources = append(w.sources, s)
	}
	return w.resolveAfter()
}

// resolveAfter writes the last key of the page before.
func (w *compositeWorker) resolveAfter() error {
	if w.of.After == nil {
		return nil
	}
	w.after = []byte{}
	for i, s := range w.sources {
		v := w.of.After[i]
		switch {
		case s.of.Name == w.of.AfterMissing:
			return exception.New(exception.IllegalArgument, "Missing value for [after.%s]", s.of.Name)
		case v.Kind == token.Null && !s.of.MissingBucket:
			return exception.New(exception.IllegalArgument, "Invalid value for [after.%s], expected comparable, got [null]", s.of.Name)
		case v.Kind == token.Null:
			w.after = s.appendMissing(w.after)
			continue
		}
		var err error
		if w.after, err = s.appendAfter(w.after, v); err != nil {
			return err
		}
	}
	return nil
}

func (w *compositeWorker) begin(at search.Place) error {
	for _, s := range w.sources {
		s.begin(at)
	}
	return nil
}

func (w *compositeWorker) end() error    { return nil }
func (w *compositeWorker) typed() string { return "composite" }

func (w *compositeWorker) collect(b batch) error {
	for _, s := range w.sources {
		s.read(b.docs)
	}
	for i := range b.docs {
		if err := w.combine(&b, int32(i), 0, w.key[:0]); err != nil {
			return err
		}
	}
	return nil
}

// combine completes a key with each value that the doc has in the sources from one on.
func (w *compositeWorker) combine(b *batch, i int32, from int, key []byte) error {
	if from == len(w.sources) {
		w.key = key
		return w.take(b, i, key)
	}
	s := w.sources[from]
	first, last := s.starts[i], s.starts[i+1]
	if first == last {
		if !s.of.MissingBucket {
			return nil
		}
		return w.combine(b, i, from+1, s.appendMissing(key))
	}
	for j := first; j < last; j++ {
		if err := w.combine(b, i, from+1, s.appendValue(key, j)); err != nil {
			return err
		}
	}
	return nil
}

// take counts a doc for a key.
func (w *compositeWorker) take(b *batch, i int32, key []byte) error {
	if err := w.n.memory.step(); err != nil {
		return err
	}
	bucket, known := w.bucket[string(key)]
	if !known {
		if w.after != nil && bytes.Compare(key, w.after) <= 0 {
			return nil
		}
		if len(w.kept) == w.of.Size {
			if string(key) > w.kept[0] {
				return nil
			}
			delete(w.bucket, heap.Pop(&w.kept).(string))
		}
		text := string(key)
		bucket = w.next
		w.next++
		w.bucket[text] = bucket
		heap.Push(&w.kept, text)
	}
	w.count.add(bucket, 1)
	return w.n.subs.add(b, i, bucket)
}

func (w *compositeWorker) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	keys := make([]string, len(w.kept))
	rest := append(keyHeap(nil), w.kept...)
	if around != 0 {
		keys, rest = nil, nil
	}
	for i := len(keys) - 1; i >= 0; i-- {
		keys[i] = heap.Pop(&rest).(string)
	}
	if err := t.bucket(len(keys)); err != nil {
		return dst, err
	}
	if len(keys) > 0 {
		dst = w.appendKey(member(dst, "after_key"), keys[len(keys)-1])
	}
	dst = append(member(dst, "buckets"), '[')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.appendKey(append(dst, `{"key":`...), key)
		bucket := w.bucket[key]
		dst = strconv.AppendInt(append(dst, `,"doc_count":`...), w.count.of(bucket), 10)
		var err error
		if dst, err = w.n.subs.append(t, dst, bucket); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}

// appendKey appends the object of a key.
func (w *compositeWorker) appendKey(dst []byte, key string) []byte {
	dst = append(dst, '{')
	rest := []byte(key)
	for i, s := range w.sources {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(token.AppendString(dst, []byte(s.of.Name)), ':')
		dst, rest = s.appendJSON(dst, rest)
	}
	return append(dst, '}')
}
