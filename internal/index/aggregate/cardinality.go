package aggregate

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// cardinality counts the different values of each bucket.
type cardinality struct {
	n       *node
	of      *Cardinality
	values  values
	buckets []*distinct

	numbers numbers
	terms   terms
	class   class // of the index of the view
	column  *segment.NumberColumn
	hashes  []uint64          // by ordinal; 0: not yet made
	seen    termCache[uint64] // hashes of the terms of lexica
	scratch []byte
	taken   int64 // bytes of what is in buckets
}

func newCardinality(n *node, k *Cardinality, o Options) worker {
	return &cardinality{n: n, of: k, values: values{of: k.Values, now: o.Now}}
}

func (w *cardinality) prepare(all []search.Index) error {
	w.numbers.values, w.terms.values = &w.values, &w.values
	return w.values.resolve(w.n.kind, all, takesAll, false)
}

func (w *cardinality) begin(at search.Place) error {
	w.numbers.begin(at)
	n := w.terms.begin(at)
	w.class, w.column = w.values.class, w.numbers.column
	if here := w.values.fields[at.Index]; here != nil {
		w.class, _ = classOf(here)
		if w.class == others && w.terms.column != nil {
			w.class = texts
		}
	}
	if w.class == texts {
		if cap(w.hashes) < n+1 {
			w.hashes = make([]uint64, n+1)
		}
		w.hashes = w.hashes[:n+1]
		clear(w.hashes)
		w.seen.begin(w.terms.lexicon(at))
	}
	return nil
}

func (w *cardinality) end() error    { return nil }
func (w *cardinality) typed() string { return "cardinality" }

func (w *cardinality) put(bucket uint32, hash uint64) {
	if int(bucket) >= len(w.buckets) {
		w.buckets = grown(w.buckets, int(bucket)+1)
	}
	d := w.buckets[bucket]
	if d == nil {
		threshold := 3000
		if w.of.Precision != nil {
			threshold = *w.of.Precision
		}
		d = newDistinct(threshold)
		w.buckets[bucket] = d
		w.taken += d.size()
	}
	before := d.size()
	d.add(hash)
	w.taken += d.size() - before
}

func (w *cardinality) collect(b batch) error {
	switch w.class {
	case texts:
		w.collectTerms(b)
	case reals:
		at, f := w.numbers.reals(b.docs)
		for j, v := range f {
			w.put(b.around[at[j]], mix64(math.Float64bits(v)))
		}
	case wholes, counts:
		at, n := w.numbers.wholes(b.docs)
		for j, v := range n {
			w.put(b.around[at[j]], mix64(uint64(v)^uint64(w.class)<<56))
		}
	case others:
		w.numbers.raw(b.docs)
		for j, v := range w.numbers.n {
			if i := w.numbers.at[j]; i >= 0 {
				w.put(b.around[i], mix64(uint64(v)))
			}
		}
	}
	return nil
}

func (w *cardinality) collectTerms(b batch) {
	if spell := w.terms.spelled(); spell != nil {
		for i, doc := range b.docs {
			w.put(b.around[i], hashOf(spell(doc)))
		}
		return
	}
	at, ords := w.terms.read(b.docs)
	ranges := w.terms.here != nil && w.terms.here.Kind() == fields.Interval
	whole := uint64(0)
	for j, ord := range ords {
		place := min(ord, uint32(len(w.hashes)-1))
		hash := w.hashes[place]
		if hash == 0 {
			hash = w.hashed(ord)
			w.hashes[place] = hash
		}
		if ranges { // all of a doc are one value
			whole = mix64(whole ^ hash)
			if j+1 < len(ords) && at[j+1] == at[j] {
				continue
			}
			hash, whole = whole, 0
		}
		w.put(b.around[at[j]], hash)
	}
}

// hashed is the hash of the term of an ordinal.
func (w *cardinality) hashed(ord uint32) uint64 {
	var common *uint64
	if ord != absentTerm {
		common = w.seen.value(ord)
	}
	if common != nil && *common != 0 {
		return *common
	}
	w.scratch = w.terms.text(w.scratch[:0], ord)
	hash := hashOf(w.scratch)
	if common != nil {
		*common = hash
	}
	return hash
}

// hashOf is a hash of 64 bits: FNV-1a, mixed.
func hashOf(term []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, b := range term {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return mix64(h)
}

func (w *cardinality) estimate(bucket uint32) int64 {
	if int(bucket) >= len(w.buckets) || w.buckets[bucket] == nil {
		return 0
	}
	return w.buckets[bucket].count()
}

func (w *cardinality) measure(key string) (func(bucket uint32) float64, bool) {
	return func(b uint32) float64 { return float64(w.estimate(b)) }, key == ""
}

func (w *cardinality) append(_ *telling, dst []byte, around uint32) ([]byte, error) {
	return strconv.AppendInt(member(dst, "value"), w.estimate(around), 10), nil
}
