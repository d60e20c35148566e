package aggregate

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/java"
	"github.com/reshelve/reshelve/search"
	"github.com/reshelve/reshelve/token"
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
	// end looks for terms of documents that were not found, when they are told.
	end()
	// unseen gives the buckets of such terms in a bucket around, and those that are there.
	unseen(around uint32) []uint32
	compare(a, b uint32) int
	appendKey(dst []byte, bucket uint32) []byte
	typed() string
}

func (w *termsWorker) prepare(all []search.Index) error {
	w.values = values{of: w.of.Values, now: w.options.Now}
	err := w.values.resolve(w.n.kind, w.n.name, all, takesTexts|takesNumbers, false)
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
		w.keys = &textKeys{w: w, read: terms{values: &w.values}, choice: choice, ids: map[string]uint32{}}
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
	w.order.count = w.count1
	return nil
}

func (w *termsWorker) count1(bucket uint32) int64 { return w.count.of(bucket) }

func (w *termsWorker) begin(at search.Place) error { w.keys.begin(at); return nil }

func (w *termsWorker) collect(b batch) error { return w.keys.collect(b) }

func (w *termsWorker) end() error {
	if w.of.MinDocCount == 0 {
		w.keys.end()
	}
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
	if w.order.by != nil {
		told, other = w.select1(around)
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

// select1 gives the buckets that are told in a bucket around, and how many docs the others
// have. The server leaves out of the latter those that are too small, if its one shard
// told them at all: so do we.
func (w *termsWorker) select1(around uint32) (told []uint32, other int64) {
	all := w.buckets.within(around)
	if w.of.MinDocCount == 0 && around != emptyBucket {
		all = w.keys.unseen(around)
	}
	size, shard := w.sizes()
	best := w.order.best(all, shard)
	for _, b := range all {
		other += w.count.of(b)
	}
	told = slices.DeleteFunc(best, func(b uint32) bool {
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

// textKeys are terms of texts.
type textKeys struct {
	w      *termsWorker
	read   terms
	choice choice
	ids    map[string]uint32 // the number of each term
	texts  []string          // by number
	live   []bool            // by number: terms that are told although no document was found

	// of the view, by ordinal, and behind them what stands for a missing value; 0: not yet
	// seen, 1: left out
	numbers []uint32 // number + 2
	buckets []uint32 // bucket + 2, in the bucket around with the number 0
	scratch []byte
}

func (k *textKeys) begin(at search.Place) {
	n := k.read.begin(at) + 1
	k.numbers, k.buckets = clearTo(k.numbers, n), clearTo(k.buckets, n)
}

// clearTo gives n zeros.
func clearTo(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (k *textKeys) collect(b batch) error {
	if spell := k.read.spelled(); spell != nil {
		return k.spelled(b, spell)
	}
	at, ords := k.read.read(b.docs)
	subs := k.w.n.subs
	for j, ord := range ords {
		i := at[j]
		if ord == absentTerm {
			ord = uint32(len(k.numbers) - 1)
		}
		bucket := k.bucket(b.around[i], ord)
		if bucket < 0 {
			continue
		}
		k.w.count.add(uint32(bucket), 1)
		if err := subs.add(&b, i, uint32(bucket)); err != nil {
			return err
		}
	}
	return nil
}

// bucket finds the bucket of an ordinal; negative: it is left out.
func (k *textKeys) bucket(around, ord uint32) int64 {
	if around == 0 {
		if b := k.buckets[ord]; b > 0 {
			return int64(b) - 2
		}
	}
	n := k.numbers[ord]
	if n == 0 {
		n = k.number(ord)
	}
	if n == 1 {
		if around == 0 {
			k.buckets[ord] = 1
		}
		return -1
	}
	bucket, _ := k.w.buckets.number(around, uint64(n-2))
	if around == 0 {
		k.buckets[ord] = bucket + 2
	}
	return int64(bucket)
}

// number finds the number of the term of an ordinal, +2; 1: it is left out.
func (k *textKeys) number(ord uint32) uint32 {
	of := ord
	if int(ord) == len(k.numbers)-1 {
		of = absentTerm
	}
	k.scratch = k.read.text(k.scratch[:0], of)
	n := uint32(1)
	if term, ok := k.own(k.scratch); ok && k.choice.term(term) {
		n = k.intern(term) + 2
	}
	k.numbers[ord] = n
	return n
}

// own cuts off what the terms of a path below a flat_object begin with.
func (k *textKeys) own(term []byte) ([]byte, bool) {
	if k.read.here == nil || k.read.here.Prefix() == "" {
		return term, true
	}
	return bytes.CutPrefix(term, []byte(k.read.here.Prefix()))
}

func (k *textKeys) intern(term []byte) uint32 {
	id, ok := k.ids[string(term)]
	if !ok {
		id = uint32(len(k.texts))
		k.texts = append(k.texts, string(term))
		k.ids[k.texts[id]] = id
	}
	return id
}

func (k *textKeys) spelled(b batch, spell func(doc uint32) []byte) error {
	for i, doc := range b.docs {
		term := spell(doc)
		if !k.choice.term(term) {
			continue
		}
		bucket, _ := k.w.buckets.number(b.around[i], uint64(k.intern(term)))
		k.w.count.add(bucket, 1)
		if err := k.w.n.subs.add(&b, int32(i), bucket); err != nil {
			return err
		}
	}
	return nil
}

// end finds the terms of the view that a document shown has.
func (k *textKeys) end() {
	seen := func(n uint32) {
		if n > 1 {
			k.live = grown(k.live, max(len(k.live), int(n)-1))
			k.live[n-2] = true
		}
	}
	if k.read.column == nil {
		return
	}
	var ords []uint32
	for doc := range k.read.view.Docs() {
		if !k.read.view.Shows(uint32(doc)) {
			continue
		}
		ords = k.read.column.All(ords[:0], uint32(doc))
		for _, ord := range ords {
			n := k.numbers[ord]
			if n == 0 {
				n = k.number(ord)
			}
			seen(n)
		}
	}
}

func (k *textKeys) unseen(around uint32) []uint32 {
	all := slices.Clone(k.w.buckets.within(around))
	for id, live := range k.live {
		if bucket, made := k.w.buckets.number(around, uint64(id)); live && (made || !slices.Contains(all, bucket)) {
			all = append(all, bucket)
		}
	}
	return all
}

func (k *textKeys) text(bucket uint32) string { return k.texts[k.w.buckets.keys[bucket]] }

func (k *textKeys) compare(a, b uint32) int { return cmp.Compare(k.text(a), k.text(b)) }

func (k *textKeys) appendKey(dst []byte, bucket uint32) []byte {
	return k.w.values.appendTerm(member(dst, "key"), []byte(k.text(bucket)))
}

func (k *textKeys) typed() string { return "sterms" }

// appendTerm appends the JSON of a term.
func (v *values) appendTerm(dst, term []byte) []byte {
	if v.field != nil {
		return v.field.AppendTerm(dst, term)
	}
	if v.of.Type == "ip" {
		return appendAddress(dst, term)
	}
	return token.AppendString(dst, term)
}

// numberKeys are terms of numbers.
type numberKeys struct {
	w      *termsWorker
	read   numbers
	choice choice
	live   map[uint64]bool
}

func (k *numberKeys) begin(at search.Place) { k.read.begin(at) }

func (k *numberKeys) collect(b batch) error {
	return k.each(b.docs, func(i int32, key uint64) error {
		bucket, _ := k.w.buckets.number(b.around[i], key)
		k.w.count.add(bucket, 1)
		return k.w.n.subs.add(&b, i, bucket)
	})
}

// each calls do for the different numbers of each doc.
func (k *numberKeys) each(docs []uint32, do func(i int32, key uint64) error) error {
	var at []int32
	var bits []uint64
	if k.w.values.class == reals {
		var f []float64
		at, f = k.read.reals(docs)
		bits = make([]uint64, len(f))
		for j, v := range f {
			bits[j] = math.Float64bits(v)
		}
	} else {
		var n []int64
		at, n = k.read.wholes(docs)
		bits = make([]uint64, len(n))
		for j, v := range n {
			bits[j] = uint64(v)
		}
	}
	for j, key := range bits {
		if j > 0 && at[j] == at[j-1] && key == bits[j-1] || !k.choice.number(key) {
			continue
		}
		if err := do(at[j], key); err != nil {
			return err
		}
	}
	return nil
}

func (k *numberKeys) end() {
	if k.live == nil {
		k.live = map[uint64]bool{}
	}
	missing := k.w.values.missing
	k.w.values.missing = false
	defer func() { k.w.values.missing = missing }()
	var docs []uint32
	flush := func() {
		_ = k.each(docs, func(_ int32, key uint64) error { k.live[key] = true; return nil })
		docs = docs[:0]
	}
	for doc := range k.read.view.Docs() {
		if k.read.view.Shows(uint32(doc)) {
			docs = append(docs, uint32(doc))
		}
		if len(docs) == block {
			flush()
		}
	}
	flush()
}

func (k *numberKeys) unseen(around uint32) []uint32 {
	all := slices.Clone(k.w.buckets.within(around))
	for key := range k.live {
		if bucket, made := k.w.buckets.number(around, key); made || !slices.Contains(all, bucket) {
			all = append(all, bucket)
		}
	}
	return all
}

func (k *numberKeys) compare(a, b uint32) int {
	x, y := k.w.buckets.keys[a], k.w.buckets.keys[b]
	if k.w.values.class == reals {
		return cmp.Compare(math.Float64frombits(x), math.Float64frombits(y))
	}
	return cmp.Compare(int64(x), int64(y))
}

func (k *numberKeys) appendKey(dst []byte, bucket uint32) []byte {
	key := k.w.buckets.keys[bucket]
	v := &k.w.values
	dst = v.appendBits(member(dst, "key"), key)
	if v.format.kind == plain || v.format.kind == unsigned {
		return dst
	}
	return token.AppendString(member(dst, "key_as_string"), v.bitsText(key))
}

// appendBits appends the JSON of a number that is kept by its bits.
func (v *values) appendBits(dst []byte, bits uint64) []byte {
	switch v.class {
	case reals:
		return java.AppendReal(dst, math.Float64frombits(bits), 64)
	case counts:
		return strconv.AppendUint(dst, bits^1<<63, 10)
	}
	return strconv.AppendInt(dst, int64(bits), 10)
}

// bitsText is the number as the format has it.
func (v *values) bitsText(bits uint64) []byte {
	switch v.class {
	case reals:
		return v.format.realText(nil, math.Float64frombits(bits))
	case counts:
		return v.format.realText(nil, float64(bits^1<<63))
	}
	return v.format.wholeText(nil, int64(bits))
}

func (k *numberKeys) typed() string {
	switch k.w.values.class {
	case reals:
		return "dterms"
	case counts:
		return "ulterms"
	}
	return "lterms"
}
