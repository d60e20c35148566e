package segment

import (
	"encoding/binary"
	"math"
)

// PostingsIterator steps through the docs of a term, masked ones too. It begins before
// the first: call Next or Advance. Not safe for concurrent use.
type PostingsIterator struct {
	field *Field
	entry Entry
	with  Postings

	blocks int    // of the list; a short list is one
	long   bool   // there is a table
	table  uint64 // where, in the stream
	fixed  []byte // the table, when it lies in one extent

	block  int // the current one; -1 before the first, blocks behind the last
	i, n   int // the current doc in it, -1 before its first; how many it has
	rest   int // where what Rest gave begins
	doc    Doc
	docs   [listBlock]Doc
	freqs  [listBlock]uint32
	packed []byte // frequencies that are not decoded yet
	width  int    // theirs

	bound   int // the block of impacts
	has     bool
	impacts []Impact

	places positions
}

// start makes it ready for a term.
func (p *PostingsIterator) start(f *Field, e Entry, with Postings) {
	p.field, p.entry, p.with = f, e, with
	p.blocks = (int(e.Docs) + listBlock - 1) / listBlock
	p.long = e.Docs >= listBlock
	p.fixed = nil
	if p.long {
		size := rowSize * uint64(p.blocks+1)
		if e.size < size || e.at > f.postings.length || e.size > f.postings.length-e.at {
			panic(damaged("a list of %d docs in %d bytes", e.Docs, e.size))
		}
		p.table = e.at + e.size - size
		if p.table>>extentShift == (p.table+size-1)>>extentShift {
			p.fixed = f.postings.bytes(p.table, size)
		}
	}
	p.block, p.i, p.n, p.doc = -1, -1, 0, 0
	p.packed = nil
	p.bound, p.has = 0, false
	p.places.block = -1
}

// rowSize is the size of a row of the table of a long list.
const rowSize = 16

// row is the i-th row of the table.
func (p *PostingsIterator) row(i int) []byte {
	if p.fixed != nil {
		return p.fixed[rowSize*i : rowSize*i+rowSize]
	}
	return p.field.postings.bytes(p.table+rowSize*uint64(i), rowSize)
}

// last is the last doc of the i-th block of a long list.
func (p *PostingsIterator) last(i int) Doc { return binary.LittleEndian.Uint32(p.row(i)) }

// part is the i-th offset of a block's row: 1 of the block, 2 of its positions, 3 of its
// impacts.
func (p *PostingsIterator) part(block, i int) uint64 {
	return uint64(binary.LittleEndian.Uint32(p.row(block)[4*i:]))
}

// Doc is the current one; 0 before the first, End behind the last.
func (p *PostingsIterator) Doc() Doc { return p.doc }

// Next goes to the next doc and gives it.
func (p *PostingsIterator) Next() Doc {
	if p.i+1 < p.n {
		p.i++
		p.doc = p.docs[p.i&(listBlock-1)]
		return p.doc
	}
	return p.step()
}

// step goes to the first doc of the next block.
func (p *PostingsIterator) step() Doc {
	if !p.load(p.block + 1) {
		return End
	}
	p.i, p.doc = 0, p.docs[0]
	return p.doc
}

// Advance goes to the first doc that is not before to, which is behind the current one,
// and gives it. It skips whole blocks.
func (p *PostingsIterator) Advance(to Doc) Doc {
	if p.n == 0 || p.docs[p.n-1] < to {
		next := p.block + 1
		if p.long && next < p.blocks {
			next = p.seek(next, to)
		}
		if !p.load(next) {
			return End
		}
		if p.docs[p.n-1] < to { // a short list
			return p.end()
		}
	}
	docs := p.docs[:p.n]
	low := p.i + 1
	for step := 1; ; step *= 2 { // what is wanted is mostly near
		if low+step >= len(docs) {
			break
		}
		if docs[low+step-1] >= to {
			docs = docs[:low+step]
			break
		}
		low += step
	}
	high := len(docs) - 1
	for low < high {
		mid := int(uint(low+high) / 2)
		if docs[mid] < to {
			low = mid + 1
		} else {
			high = mid
		}
	}
	p.i, p.doc = low, docs[low]
	return p.doc
}

// seek is the first block from a given one on whose last doc is not before to, or blocks.
func (p *PostingsIterator) seek(from int, to Doc) int {
	low, high := from, from
	for step := 1; ; step *= 2 {
		if high >= p.blocks {
			high = p.blocks
			break
		}
		if p.last(high) >= to {
			break
		}
		low = high + 1
		high += step
	}
	for low < high {
		mid := int(uint(low+high) / 2)
		if p.last(mid) < to {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// end goes behind the last doc.
func (p *PostingsIterator) end() Doc {
	p.block, p.i, p.n, p.doc = p.blocks, -1, 0, End
	return End
}

// load decodes the docs of a block, and goes before its first; false behind the last.
func (p *PostingsIterator) load(block int) bool {
	if block >= p.blocks {
		p.end()
		return false
	}
	p.block, p.i, p.packed = block, -1, nil
	if !p.long {
		if p.n = int(p.entry.Docs); p.n == 1 {
			p.docs[0], p.freqs[0] = Doc(p.entry.at), uint32(min(p.entry.Frequencies, math.MaxUint32))
			return true
		}
		p.short(p.field.postings.bytes(p.entry.at, p.entry.size), math.MaxUint32)
		return true
	}
	before := Doc(math.MaxUint32)
	if block > 0 {
		before = p.last(block - 1)
	}
	from, end := p.part(block, 1), p.part(block+1, 1)
	if from > end || end > p.entry.size {
		panic(damaged("the blocks of a list are not in order"))
	}
	b := p.field.postings.bytes(p.entry.at+from, end-from)
	if p.n = min(listBlock, int(p.entry.Docs)-block*listBlock); p.n < listBlock {
		p.short(b, before)
	} else {
		p.full(b, before)
	}
	if last := p.docs[p.n-1]; last != p.last(block) || last >= p.field.docs {
		panic(damaged("a block of a list ends with another doc than the table says"))
	}
	return true
}

// full decodes a block of 128.
func (p *PostingsIterator) full(b []byte, before Doc) {
	if len(b) < 2 {
		panic(damaged("a block of a list is too short"))
	}
	w, fw := int(b[0]), int(b[1])
	if badWidth(w) || badWidth(fw) || len(b) != 2+packedSize(w)+packedSize(fw) {
		panic(damaged("a block of widths %d and %d in %d bytes", w, fw, len(b)))
	}
	b = b[2 : len(b)+8]
	unpack(&p.docs, b, w)
	if !sum(&p.docs, before, w) {
		panic(damaged("the docs of a list are too great"))
	}
	if p.with >= Frequencies {
		p.packed, p.width = b[packedSize(w):], fw
	}
}

func badWidth(w int) bool { return w > 28 && w != 32 }

// short decodes fewer than 128 docs.
func (p *PostingsIterator) short(b []byte, before Doc) {
	at := uint64(before + 1)
	with := p.field.spec.Postings >= Frequencies
	for k, i := 0, 0; k < p.n; k++ {
		var v, f uint64
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else {
			v, i = varint(b, i)
		}
		if with {
			if f = 1; v&1 == 0 {
				f, i = varint(b, i)
				f += 2
			}
			v >>= 1
		}
		if at += v; at >= uint64(p.field.docs) || v >= uint64(p.field.docs) {
			panic(damaged("doc %d of %d", at, p.field.docs))
		}
		p.docs[k], p.freqs[k] = Doc(at), uint32(f)
		at++
	}
}

// frequencies decodes those of the block, when it has not been done.
func (p *PostingsIterator) frequencies() {
	if p.packed == nil {
		return
	}
	unpack(&p.freqs, p.packed, p.width)
	for i := range p.freqs {
		p.freqs[i]++
	}
	p.packed = nil
}

// Frequency is how often the term is in the current doc; 1 without frequencies.
func (p *PostingsIterator) Frequency() uint32 {
	if p.with < Frequencies {
		return 1
	}
	p.frequencies()
	return p.freqs[p.i]
}

// Positions appends where the term is in the current doc, ascending.
func (p *PostingsIterator) Positions(dst []uint32) []uint32 { return p.positions(dst, p.i) }

// PositionsAt is Positions for the i-th of the docs that Rest gave last. It is fast when i
// ascends.
func (p *PostingsIterator) PositionsAt(dst []uint32, i int) []uint32 {
	return p.positions(dst, p.rest+i)
}

// positions are those of the i-th doc of the block.
func (p *PostingsIterator) positions(dst []uint32, i int) []uint32 {
	if p.with < Positions {
		return dst
	}
	p.frequencies()
	c := &p.places
	if c.block != p.block || c.i > i {
		c.block, c.i = p.block, 0
		c.at, c.end = p.entry.where, p.entry.where+p.entry.extent
		if p.long {
			c.at += p.part(p.block, 2)
		}
		c.stream, c.chunk = p.field.positions, nil
		if c.at > c.end {
			panic(damaged("the positions of a block are not those of the term"))
		}
	}
	skip := uint64(0)
	for _, f := range p.freqs[c.i:i] {
		skip += uint64(f)
	}
	c.skip(skip)
	c.i = i + 1
	return c.read(dst, p.freqs[i])
}

// Left is how many docs there are from the current one on, at most.
func (p *PostingsIterator) Left() int {
	return max(0, int(p.entry.Docs)-max(0, p.block*listBlock+max(0, p.i)))
}
