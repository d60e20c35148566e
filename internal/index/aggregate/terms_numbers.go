package aggregate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// numberKeys are terms of numbers.
type numberKeys struct {
	w      *termsWorker
	read   numbers
	choice choice
	live   map[uint64]bool // numbers that are told although no document was found
	bits   []uint64
}

func (k *numberKeys) begin(at search.Place) { k.read.begin(at) }

func (k *numberKeys) collect(b batch) error {
	subs := k.w.n.subs
	at, keys := k.different(b.docs)
	for j, key := range keys {
		bucket, _ := k.w.buckets.number(b.around[at[j]], key)
		k.w.count.add(bucket, 1)
		if err := subs.add(&b, at[j], bucket); err != nil {
			return err
		}
	}
	return nil
}

// different finds the different numbers of the docs that there are buckets for, by their
// bits: keys[j] is of docs[at[j]].
func (k *numberKeys) different(docs []uint32) (at []int32, keys []uint64) {
	k.bits = k.bits[:0]
	if k.w.values.class == reals {
		var f []float64
		at, f = k.read.reals(docs)
		for _, v := range f {
			k.bits = append(k.bits, math.Float64bits(v))
		}
	} else {
		var n []int64
		at, n = k.read.wholes(docs)
		for _, v := range n {
			k.bits = append(k.bits, uint64(v))
		}
	}
	keys, kept := k.bits, 0
	lastAt, last := int32(-1), uint64(0)
	for j, key := range keys {
		if at[j] == lastAt && key == last {
			continue
		}
		if lastAt, last = at[j], key; !k.choice.number(key) {
			continue
		}
		at[kept], keys[kept] = lastAt, key
		kept++
	}
	return at[:kept], keys[:kept]
}

// end finds the numbers of documents that are shown, and what stands for those of others.
func (k *numberKeys) end() {
	if k.w.of.MinDocCount > 0 {
		return
	}
	if k.live == nil {
		k.live = map[uint64]bool{}
	}
	var docs []uint32
	flush := func() {
		_, keys := k.different(docs)
		for _, key := range keys {
			k.live[key] = true
		}
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

func (k *numberKeys) done() {}

func (k *numberKeys) unseen(around uint32) []uint32 {
	all := slices.Clone(k.w.buckets.within(around))
	there := k.w.buckets.len()
	for key := range k.live {
		if bucket, made := k.w.buckets.number(around, key); made || int(bucket) >= there {
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
	if v.format.kind == plain || v.format.kind == unsigned && v.class == counts {
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
