package aggregate

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/java"
	"github.com/reshelve/reshelve/search"
	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/token"
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

// compositeSource is one part of the keys: terms, numbers, or intervals.
type compositeSource struct {
	of     *CompositeSource
	values values
	scale  interface {
		prepare(v *values) error
	}
	raw bool // dates are told as numbers

	numbers numbers
	terms   terms
	cached  [][]byte // terms of the view as they are written, by ordinal

	// of a block
	starts []int // of the i-th doc, where its values begin
	bits   []uint64
	ords   []uint32
	spell  [][]byte
}

func (s *compositeSource) prepare(w *compositeWorker, all []search.Index) error {
	kind, take, dated := s.of.Of.kind(), takesNumbers, false
	switch k := s.of.Of.(type) {
	case *Terms:
		s.values.of, take = k.Values, takesNumbers|takesTexts
	case *Histogram:
		s.values.of = k.Values
		s.scale = &realScale{of: k}
	case *DateHistogram:
		s.values.of = k.Values
		s.scale, dated = &dateScale{of: k, name: w.n.name}, true
	}
	if s.values.of.Field == "" {
		return exception.New(exception.IllegalState, "value source config is invalid; must have either a field or a script")
	}
	if s.of.MissingOrder != "" && s.of.MissingOrder != "default" && !s.of.MissingBucket {
		return exception.New(exception.IllegalArgument, "missing_order require missing_bucket is true")
	}
	s.values.now = w.options.Now
	s.numbers.values, s.terms.values = &s.values, &s.values
	if kind == "terms" {
		kind = "composite"
	}
	if err := s.values.resolve(kind, w.n.name, all, take, dated); err != nil {
		return err
	}
	s.raw = s.values.of.Format == ""
	if s.scale != nil {
		return s.scale.prepare(&s.values)
	}
	return nil
}

func (s *compositeSource) begin(at search.Place) {
	s.numbers.begin(at)
	n := s.terms.begin(at)
	if s.values.class == texts {
		s.cached = make([][]byte, n)
	}
}

// read finds the values of some docs.
func (s *compositeSource) read(docs []segment.Doc) {
	s.starts = append(s.starts[:0], 0)
	s.bits, s.ords, s.spell = s.bits[:0], s.ords[:0], s.spell[:0]
	if s.values.class == texts || s.values.class == nothing {
		s.readTerms(docs)
		return
	}
	var at []int32
	switch scale := s.scale.(type) {
	case *realScale:
		var keys []float64
		at, keys = scale.keys(&s.numbers, docs)
		for _, v := range keys {
			s.bits = append(s.bits, scale.bits(v))
		}
	case *dateScale:
		var keys []int64
		at, keys = scale.keys(&s.numbers, docs)
		for _, v := range keys {
			s.bits = append(s.bits, uint64(v))
		}
	default:
		at = s.readNumbers(docs)
	}
	s.index(at, len(docs))
}

func (s *compositeSource) readNumbers(docs []segment.Doc) (at []int32) {
	if s.values.class == reals {
		var f []float64
		at, f = s.numbers.reals(docs)
		for _, v := range f {
			s.bits = append(s.bits, math.Float64bits(v))
		}
		return at
	}
	at, n := s.numbers.wholes(docs)
	for _, v := range n {
		s.bits = append(s.bits, uint64(v))
	}
	return at
}

func (s *compositeSource) readTerms(docs []segment.Doc) {
	if spell := s.terms.spelled(); spell != nil {
		for i, doc := range docs {
			s.spell = append(s.spell, spell(doc))
			s.starts = append(s.starts, i+1)
		}
		return
	}
	at, ords := s.terms.read(docs)
	s.ords = append(s.ords, ords...)
	s.index(at, len(docs))
}

// index finds where the values of each doc begin.
func (s *compositeSource) index(at []int32, docs int) {
	j := 0
	for i := range docs {
		for j < len(at) && int(at[j]) == i {
			j++
		}
		s.starts = append(s.starts, j)
	}
}

// nullFirst reports whether what is missing comes before all else.
func (s *compositeSource) nullFirst() bool {
	switch s.of.MissingOrder {
	case "first":
		return true
	case "last":
		return false
	}
	return !s.of.Descending
}

// A value is written as a byte 1 and its bytes, which are turned over where the order is
// descending; what is missing is one byte, 0 or 2.
const (
	missingFirst = 0
	present      = 1
	missingLast  = 2
)

func (s *compositeSource) appendMissing(key []byte) []byte {
	if s.nullFirst() {
		return append(key, missingFirst)
	}
	return append(key, missingLast)
}

// appendValue writes the j-th value of the block.
func (s *compositeSource) appendValue(key []byte, j int) []byte {
	switch {
	case len(s.spell) > 0:
		return s.appendTerm(key, s.spell[j])
	case len(s.ords) > 0:
		ord := s.ords[j]
		if int(ord) >= len(s.cached) {
			return s.appendTerm(key, s.values.missingText)
		}
		if s.cached[ord] == nil {
			s.cached[ord] = s.appendTerm(nil, s.terms.text(nil, ord))
		}
		return append(key, s.cached[ord]...)
	}
	return s.appendBits(key, s.bits[j])
}

func (s *compositeSource) appendBits(key []byte, bits uint64) []byte {
	if s.fractional() {
		bits = sortable(bits)
	}
	bits ^= 1 << 63
	if s.of.Descending {
		bits = ^bits
	}
	return binary.BigEndian.AppendUint64(append(key, present), bits)
}

// fractional reports whether the numbers of the keys are doubles.
func (s *compositeSource) fractional() bool {
	switch s.scale.(type) {
	case *realScale:
		return true
	case *dateScale:
		return false
	}
	return s.values.class == reals
}

// appendTerm writes a text: a byte 0 in it becomes 0 255, and 0 0 ends it, so that no
// text is the beginning of another.
func (s *compositeSource) appendTerm(key, term []byte) []byte {
	key = append(key, present)
	start := len(key)
	for _, b := range term {
		if key = append(key, b); b == 0 {
			key = append(key, 255)
		}
	}
	key = append(key, 0, 0)
	if s.of.Descending {
		for i := start; i < len(key); i++ {
			key[i] = ^key[i]
		}
	}
	return key
}

// appendJSON appends the JSON of the value that a key begins with, and gives the rest of
// the key.
func (s *compositeSource) appendJSON(dst, key []byte) (_, rest []byte) {
	if key[0] != present {
		return append(dst, "null"...), key[1:]
	}
	key = key[1:]
	turned := byte(0)
	if s.of.Descending {
		turned = 255
	}
	if s.values.class == texts || s.values.class == nothing {
		var term []byte
		for i := 0; ; i++ {
			b := key[i] ^ turned
			if b == 0 {
				if i++; key[i]^turned == 0 {
					return s.values.appendTerm(dst, term), key[i+1:]
				}
			}
			term = append(term, b)
		}
	}
	bits := binary.BigEndian.Uint64(key)
	if s.of.Descending {
		bits = ^bits
	}
	return s.appendNumber(dst, bits^1<<63), key[8:]
}

func (s *compositeSource) appendNumber(dst []byte, bits uint64) []byte {
	if s.fractional() {
		bits = sortable(bits)
		if s.values.format.kind == decimals {
			return s.values.format.appendReal(dst, math.Float64frombits(bits))
		}
		return java.AppendReal(dst, math.Float64frombits(bits), 64)
	}
	switch {
	case s.values.class == counts && s.scale == nil:
		return strconv.AppendUint(dst, bits^1<<63, 10)
	case s.values.format.kind == truth:
		return strconv.AppendBool(dst, bits != 0)
	case s.values.format.kind == dates && !s.raw:
		return token.AppendString(dst, s.values.format.wholeText(nil, int64(bits)))
	}
	return strconv.AppendInt(dst, int64(bits), 10)
}
