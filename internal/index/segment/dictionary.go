package segment

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
)

const (
	termShift = 5 // of a block of 32 terms
	termBlock = 1 << termShift

	// maxTerm is how many bytes a term may have.
	maxTerm = 1<<16 - 1
)

// dictionary finds the terms of a field; see FORMAT.md.
type dictionary struct {
	src       *source
	stream    *stream
	with      Postings
	docs      uint32 // of the segment
	terms     uint32
	index     uint64
	indexSize uint64
	loaded    atomic.Bool // the checksums of the index were compared
}

func (d *dictionary) blocks() uint64 { return (uint64(d.terms) + termBlock - 1) >> termShift }

// heads is the size of the fixed parts of the index.
func (d *dictionary) heads() uint64 { return 12 * (d.blocks() + 1) }

// load gives the index, in its parts.
func (d *dictionary) load() (blocks, starts, separators []byte) {
	at, n := d.index, d.blocks()+1
	if d.loaded.Load() {
		blocks = d.src.data[at : at+d.indexSize]
	} else {
		blocks = d.src.bytes(at, d.indexSize)
		d.loaded.Store(true)
	}
	return blocks[:8*n], blocks[8*n : 12*n], blocks[12*n:]
}

// separator is what divides the i-th block from the one before.
func separator(starts, separators []byte, i uint64) []byte {
	from, to := binary.LittleEndian.Uint32(starts[4*i:]), binary.LittleEndian.Uint32(starts[4*i+4:])
	if from > to || uint64(to) > uint64(len(separators)) {
		panic(damaged("the index of a dictionary is not in order"))
	}
	return separators[from:to]
}

// blockOf is the block in which a term is, when it is anywhere.
func (d *dictionary) blockOf(term []byte) uint64 {
	return d.blockWithin(term, 0, d.blocks()-1) // the first block may always be it
}

// blockFrom is the same for a term that is in no block before a given one, and probably near it.
func (d *dictionary) blockFrom(term []byte, low uint64) uint64 {
	_, starts, separators := d.load()
	high := d.blocks() - 1
	for step := uint64(1); low+step <= high; step *= 2 {
		if bytes.Compare(separator(starts, separators, low+step), term) > 0 {
			high = low + step - 1
			break
		}
		low += step
	}
	return d.blockWithin(term, low, high)
}

// blockWithin is the same for a term that is in a block from low to high.
func (d *dictionary) blockWithin(term []byte, low, high uint64) uint64 {
	_, starts, separators := d.load()
	for low < high {
		mid := (low + high + 1) / 2
		if bytes.Compare(separator(starts, separators, mid), term) <= 0 {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// blockReader reads the terms of a block one after the other.
type blockReader struct {
	first   uint32 // the ordinal of the first term
	n       int    // terms
	terms   []byte
	entries []byte
	at      uint64 // where the postings of the next entry are
	where   uint64 // and its positions
}

// block is the i-th block, which is there.
func (d *dictionary) block(i uint64) blockReader {
	blocks, _, _ := d.load()
	from, to := binary.LittleEndian.Uint64(blocks[8*i:]), binary.LittleEndian.Uint64(blocks[8*i+8:])
	if from > to {
		panic(damaged("the index of a dictionary is not in order"))
	}
	raw := d.stream.bytes(from, to-from)
	r := blockReader{first: uint32(i << termShift)}
	r.n = min(termBlock, int(d.terms-r.first))
	var k int
	r.at, k = varint(raw, 0)
	r.where, k = varint(raw, k)
	size, k := varint(raw, k)
	if size > uint64(len(raw)-k) {
		panic(damaged("a block of terms is too short"))
	}
	r.terms, r.entries = raw[k:k+int(size)], raw[k+int(size):]
	return r
}

// next gives what the next term shares with the one before, and what follows.
func (r *blockReader) next() (shared int, rest []byte) {
	b := r.terms
	if len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 && 2+int(b[1]) <= len(b) { // nearly always
		r.terms = b[2+int(b[1]):]
		return int(b[0]), b[2 : 2+int(b[1])]
	}
	s, i := varint(b, 0)
	n, i := varint(b, i)
	if s > maxTerm || n > uint64(len(b)-i) {
		panic(damaged("a term is too long"))
	}
	r.terms = b[i+int(n):]
	return int(s), b[i : i+int(n)]
}

// entry gives the next entry.
func (d *dictionary) entry(r *blockReader, ord uint32) Entry {
	e := Entry{Ord: ord}
	if d.with == NoPostings {
		return e
	}
	b := r.entries
	docs, i := varint(b, 0)
	if docs >= uint64(d.docs) {
		panic(damaged("a term is in more docs than there are"))
	}
	e.Docs = uint32(docs) + 1
	e.at = r.at
	if e.size, i = varint(b, i); e.Docs == 1 {
		if e.at = e.size; e.at >= uint64(d.docs) {
			panic(damaged("a term is in doc %d of %d", e.at, d.docs))
		}
		e.size = 0
	}
	e.Frequencies = uint64(e.Docs)
	if d.with >= Frequencies {
		var more uint64
		more, i = varint(b, i)
		e.Frequencies += more
	}
	if d.with >= Positions {
		e.where = r.where
		e.extent, i = varint(b, i)
	}
	r.at += e.size
	r.where += e.extent
	r.entries = b[i:]
	return e
}

// skip goes past n entries. Most have numbers of one byte alone, which are read together.
func (d *dictionary) skip(r *blockReader, n int) {
	if d.with == NoPostings {
		return
	}
	numbers := 2 + int(d.with-Docs)
	long := uint32(0x80808080) >> (32 - 8*numbers) // the bits that say that a number goes on
	for range n {
		if len(r.entries) < 4 || d.docs < 0x80 {
			d.entry(r, 0)
			continue
		}
		e := binary.LittleEndian.Uint32(r.entries)
		if e&long != 0 {
			d.entry(r, 0)
			continue
		}
		if e&0xff != 0 { // more than one doc
			r.at += uint64(e >> 8 & 0xff)
		}
		if d.with >= Positions {
			r.where += uint64(e >> 24)
		}
		r.entries = r.entries[numbers:]
	}
}

// lookup finds a term.
func (d *dictionary) lookup(term []byte) (Entry, bool) {
	if d.terms == 0 {
		return Entry{}, false
	}
	r := d.block(d.blockOf(term))
	same := 0 // how much of term the term before begins with; the next byte of that is less
	for i := range r.n {
		shared, rest := r.next()
		if shared > same {
			continue // it goes on as the one before, which is less
		}
		if shared < same {
			break // it is greater
		}
		n := commonPrefix(rest, term[same:])
		same += n
		if n == len(rest) && same == len(term) {
			d.skip(&r, i)
			return d.entry(&r, r.first+uint32(i)), true
		}
		if same == len(term) || n < len(rest) && rest[n] > term[same] {
			break
		}
	}
	return Entry{}, false
}

// commonPrefix is how many bytes a and b begin alike with.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// term appends the term of an ordinal.
func (d *dictionary) term(dst []byte, ord uint32) []byte {
	if ord >= d.terms {
		panic(damaged("term %d of %d", ord, d.terms))
	}
	r := d.block(uint64(ord >> termShift))
	start := len(dst)
	for range ord&(termBlock-1) + 1 {
		shared, rest := r.next()
		if shared > len(dst)-start {
			panic(damaged("a term shares more than there is"))
		}
		dst = append(dst[:start+shared], rest...)
	}
	return dst
}

// Terms steps through a dictionary: for t := f.From(x); t.Valid(); t.Next().
type Terms struct {
	dict  *dictionary
	r     blockReader
	i     int // in the block; -1 before the first step
	of    uint64
	term  []byte
	entry Entry
	done  bool
}

// Valid is false behind the last term.
func (t *Terms) Valid() bool { return !t.done }

// Next goes to the next term.
func (t *Terms) Next() {
	if t.i++; t.i < t.r.n {
		t.step()
		return
	}
	t.open(t.of + 1)
}

// open goes to the first term of a block.
func (t *Terms) open(block uint64) {
	if block >= t.dict.blocks() {
		t.done = true
		return
	}
	t.of, t.i = block, 0
	t.r = t.dict.block(block)
	shared, rest := t.r.next()
	if shared != 0 || block > 0 && len(t.term) > 0 && bytes.Compare(t.term, rest) >= 0 {
		panic(damaged("terms are not in order"))
	}
	t.term = append(t.term[:0], rest...)
	t.entry = t.dict.entry(&t.r, t.r.first)
}

// step reads a term that is not the first of its block.
func (t *Terms) step() {
	shared, rest := t.r.next()
	if shared > len(t.term) || len(rest) == 0 || shared < len(t.term) && t.term[shared] >= rest[0] {
		panic(damaged("terms are not in order"))
	}
	t.term = append(t.term[:shared], rest...)
	t.entry = t.dict.entry(&t.r, t.r.first+uint32(t.i))
}

// Seek goes to the first term that is not before the given one; forwards only.
func (t *Terms) Seek(term []byte) {
	if !t.done && bytes.Compare(t.term, term) < 0 {
		t.seek(term)
	}
}

func (t *Terms) seek(term []byte) {
	if t.dict.terms == 0 {
		t.done = true
		return
	}
	if t.i < 0 {
		t.open(t.dict.blockOf(term))
	} else if block := t.dict.blockFrom(term, t.of); block != t.of {
		t.open(block)
	}
	for !t.done && bytes.Compare(t.term, term) < 0 {
		t.Next()
	}
}

// Term is the current one, until the next step.
func (t *Terms) Term() []byte { return t.term }

// Entry is the current one's.
func (t *Terms) Entry() Entry { return t.entry }
