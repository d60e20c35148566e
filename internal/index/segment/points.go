package segment

import (
	"encoding/binary"
	"sort"
)

const (
	pointBlock = 512
	pointEntry = 32 // bytes of the table for a block
)

// PointIndex finds docs by number. Safe for concurrent use.
type PointIndex struct {
	src   *source
	docs  uint32 // of the segment
	n     uint64
	table uint64
}

func (p *PointIndex) blocks() uint64 { return (p.n + pointBlock - 1) / pointBlock }

// pointReader reads one block.
type pointReader struct {
	n           int
	first, last int64
	numbers     block
	docs        block
	limit       uint64
}

// entry is the part of the table for the i-th block, which is there.
func (p *PointIndex) entry(i uint64) []byte { return p.src.bytes(p.table+pointEntry*i, pointEntry) }

func (p *PointIndex) first(i uint64) int64 { return int64(binary.LittleEndian.Uint64(p.entry(i))) }

func (p *PointIndex) last(i uint64) int64 {
	return int64(binary.LittleEndian.Uint64(p.entry(i)[8:]))
}

// block is the i-th block.
func (p *PointIndex) block(i uint64) pointReader {
	e := p.entry(i)
	r := pointReader{n: int(min(pointBlock, p.n-i*pointBlock)), limit: uint64(p.docs)}
	r.first, r.last = p.first(i), p.last(i)
	at := binary.LittleEndian.Uint64(e[16:])
	r.numbers = block{base: uint64(r.first), width: uint64(e[28])}
	r.docs = block{base: uint64(binary.LittleEndian.Uint32(e[24:])), width: uint64(e[29])}
	for _, b := range []*block{&r.numbers, &r.docs} {
		b.mask = maskOf(b.width)
		size := (uint64(r.n)*b.width + 7) / 8
		if size > 0 {
			b.bytes = p.src.bytes(at, size)
			b.bytes = b.bytes[:len(b.bytes)+8]
		}
		at += size
	}
	return r
}

func (r *pointReader) number(i int) int64 { return int64(r.numbers.base + r.numbers.get(uint64(i))) }

func (r *pointReader) doc(i int) Doc {
	doc := r.docs.base + r.docs.get(uint64(i))
	if doc >= r.limit {
		panic(damaged("a point of doc %d of %d", doc, r.limit))
	}
	return Doc(doc)
}

// set puts the docs of the points from the i-th to before the end-th into a set.
func (r *pointReader) set(into *Bits, i, end uint64) {
	var docs [pointBlock]int64
	part := docs[:end-i]
	r.docs.unpack(part, i, 1)
	greatest := int64(0)
	for _, doc := range part {
		greatest |= doc
	}
	if uint64(greatest) >= r.limit { // perhaps one is too great
		for _, doc := range part {
			if uint64(doc) >= r.limit {
				panic(damaged("a point of doc %d of %d", doc, r.limit))
			}
		}
	}
	for _, doc := range part {
		into.words[uint64(doc)>>6] |= 1 << (doc & 63)
	}
}

// before is how many points have a number below n, or n itself when that counts too.
func (p *PointIndex) before(n int64, too bool) uint64 {
	above := func(m int64) bool { return m > n || m == n && !too }
	of := uint64(sort.Search(int(p.blocks()), func(i int) bool { return above(p.last(uint64(i))) }))
	if of == p.blocks() {
		return p.n
	}
	r := p.block(of)
	return of*pointBlock + uint64(sort.Search(r.n, func(i int) bool { return above(r.number(i)) }))
}

// Count is how many points lie from least to greatest, both included: exact up to two
// blocks.
func (p *PointIndex) Count(least, greatest int64) int {
	if least > greatest || p.n == 0 {
		return 0
	}
	from, to := p.before(least, false), p.before(greatest, true)
	return int(max(from, to) - from)
}

// Within puts the docs of the points from least to greatest, both included, into a set
// for all docs of the segment.
func (p *PointIndex) Within(least, greatest int64, into *Bits) {
	if least > greatest || p.n == 0 {
		return
	}
	from, to := p.before(least, false), p.before(greatest, true)
	for from < to {
		of := from / pointBlock
		r := p.block(of)
		end := min(to, (of+1)*pointBlock)
		r.set(into, from-of*pointBlock, end-of*pointBlock)
		from = end
	}
}
