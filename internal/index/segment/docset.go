package segment

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// The kinds of docsets.
const (
	setEmpty = iota
	setAll
	setBits
	setList
)

// docSet is a set of docs in a file.
type docSet struct {
	kind  byte
	count uint32
	at    uint64

	src    *source
	docs   uint32
	loaded atomic.Pointer[Bits]
}

// rankOf is how many words one entry of the ranks of a bit set counts.
const rankOf = 8

func wordsOf(docs uint32) uint64 { return (uint64(docs) + 63) / 64 }

// rank is how many docs of the set are before doc, which is below docs, and whether doc is
// of the set.
func (d *docSet) rank(doc Doc) (uint32, bool) {
	switch d.kind {
	case setAll:
		return doc, true
	case setBits:
		return d.rankInBits(doc)
	case setList:
		i := d.search(doc)
		return i, i < d.count && d.src.u32(d.at+4*uint64(i)) == doc
	}
	return 0, false
}

func (d *docSet) rankInBits(doc Doc) (uint32, bool) {
	w := uint64(doc >> 6)
	word := d.src.u64(d.at + 8*w)
	r := d.src.u32(d.at + 8*wordsOf(d.docs) + 4*(w/rankOf))
	if first := w &^ (rankOf - 1); first < w {
		before := d.src.bytes(d.at+8*first, 8*(w-first))
		for ; len(before) >= 8 && first < w; before, first = before[8:], first+1 {
			r += uint32(bits.OnesCount64(binary.LittleEndian.Uint64(before)))
		}
	}
	r += uint32(bits.OnesCount64(word & (1<<(doc&63) - 1)))
	return r, word&(1<<(doc&63)) != 0
}

// search is how many docs of a list are before doc.
func (d *docSet) search(doc Doc) uint32 {
	low, high := uint32(0), d.count
	for low < high {
		mid := (low + high) / 2
		if d.src.u32(d.at+4*uint64(mid)) < doc {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// ranks appends the ranks of those of ascending docs that are of the set, says of each of the
// docs whether it is, and gives how many are.
func (d *docSet) ranks(docs []Doc, ranks []uint32, has []bool) int {
	if d.kind != setBits {
		for i, doc := range docs {
			r, ok := d.rank(doc)
			if has[i] = ok; ok {
				ranks = append(ranks, r)
			}
		}
		return len(ranks)
	}
	all := d.bits().words
	at, before := uint32(math.MaxUint32), uint32(0) // a word, and what is before it
	for i, doc := range docs {
		if w := doc >> 6; w != at {
			if w < at || w-at > rankOf {
				before, _ = d.rank(w << 6)
			} else {
				for ; at < w; at++ {
					before += uint32(bits.OnesCount64(all[at]))
				}
			}
			at = w
		}
		word := all[at]
		if has[i] = word>>(doc&63)&1 != 0; has[i] {
			ranks = append(ranks, before+uint32(bits.OnesCount64(word&(1<<(doc&63)-1))))
		}
	}
	return len(ranks)
}

// bits is the set in memory: the file's own where that can be; nil when it is all docs.
func (d *docSet) bits() *Bits {
	if d.kind == setAll {
		return nil
	}
	if b := d.loaded.Load(); b != nil {
		return b
	}
	b := d.load()
	d.loaded.Store(b)
	return b
}

func (d *docSet) load() *Bits {
	switch d.kind {
	case setBits:
		b := &Bits{words: wordsOfBytes(d.src.bytes(d.at, 8*wordsOf(d.docs))), n: int(d.docs)}
		if over := d.docs & 63; over != 0 && b.words[len(b.words)-1]>>over != 0 {
			panic(damaged("a set has docs behind the last"))
		}
		return b
	case setList:
		b := NewBits(int(d.docs))
		for list := d.src.bytes(d.at, 4*uint64(d.count)); len(list) >= 4 && d.count > 0; list = list[4:] {
			doc := binary.LittleEndian.Uint32(list)
			if doc >= d.docs {
				panic(damaged("a set has docs behind the last"))
			}
			b.Set(doc)
		}
		return b
	}
	return NewBits(int(d.docs))
}

// littleEndian is whether words of the file are words of this machine.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// wordsOfBytes are the words of b, whose length is a multiple of 8: b itself where it lies as this
// machine's words do.
func wordsOfBytes(b []byte) []uint64 {
	if len(b) == 0 {
		return nil
	}
	if p := unsafe.Pointer(&b[0]); littleEndian && uintptr(p)%8 == 0 {
		return unsafe.Slice((*uint64)(p), len(b)/8)
	}
	out := make([]uint64, len(b)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}

// setWriter writes docsets, and each only once.
type setWriter struct {
	file    *file
	written map[[sha256.Size]byte]uint64
	buf     []byte
}

// write writes a set, of which nil are all docs.
func (w *setWriter) write(set *Bits, docs uint32) *docSet {
	d := &docSet{docs: docs}
	if set == nil {
		d.kind, d.count = setAll, docs
		return d
	}
	d.count = uint32(set.Count())
	switch {
	case d.count == docs:
		d.kind = setAll
		return d
	case d.count == 0:
		return d
	case uint64(d.count)*32 < uint64(docs):
		d.kind = setList
		w.buf = w.buf[:0]
		for doc := set.Next(0); doc != End; doc = set.Next(doc + 1) {
			w.buf = binary.LittleEndian.AppendUint32(w.buf, doc)
		}
	default:
		d.kind = setBits
		w.bits(set)
	}
	sum := sha256.Sum256(w.buf)
	at, ok := w.written[sum]
	if !ok {
		at = w.file.align(8)
		w.file.write(w.buf)
		w.written[sum] = at
	}
	d.at = at
	return d
}

func (w *setWriter) bits(set *Bits) {
	w.buf = w.buf[:0]
	for _, word := range set.words {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, word)
	}
	r := 0
	for i, word := range set.words {
		if i%rankOf == 0 {
			w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(r))
		}
		r += bits.OnesCount64(word)
	}
}
