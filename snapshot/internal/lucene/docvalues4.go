package lucene

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Ways to write numbers in Lucene 4.5 to 6.x.
const (
	deltaNumbers = iota
	gcdNumbers
	tableNumbers
	monotonicNumbers
	constNumbers
	sparseNumbers
)

// Ways to write bytes, and sets of values.
const (
	fixedBytes = iota
	variableBytes
	prefixBytes

	tableSet = 2
)

// entries4 reads the .dvm of Lucene 4.5 to 6.x: in a row, field number and type,
// then what the type needs. A type that is made of others (sorted = bytes and
// numbers) is followed by those as entries of their own. −1 ends.
//
// Sources: the Javadoc of Lucene45DocValuesFormat, Lucene49…, Lucene410…,
// Lucene50… and Lucene54DocValuesFormat.
func (d *docValues) entries4(in *input, format docValuesFormat, version int32, _ []FieldInfo) {
	e := entryReader4{in: in, d: d, release: format.release, version: version}
	for in.err == nil {
		number := in.vint()
		if number == -1 {
			break
		}
		e.entry(number, in.byte())
	}
	e.closeSpans()
}

// entryReader4 reads one entry after the other.
type entryReader4 struct {
	in      *input
	d       *docValues
	release int // of Lucene that began the format, major*100+minor
	version int32
	starts  []int64    // 4.5 does not say where values end, only where all begin
	open    []*numeric // those whose end is not known
}

func (e *entryReader4) entry(number int32, kind byte) {
	in := e.in
	switch kind {
	case entryNumeric:
		n := e.numeric(number)
		// A field of several values has more numeric entries; nobody asks for it.
		if _, twice := e.d.numerics[number]; !twice && n != nil {
			e.d.numerics[number] = n
		}
	case entryBinary:
		e.binary()
	case entrySorted:
	case entrySortedSet, entrySortedNumeric:
		if e.release == 405 && e.version == 0 {
			return
		}
		if in.vint() == tableSet && e.release >= 500 {
			in.bytes(8 * in.count(in.int32(), 8))
			in.bytes(4 * in.count(in.int32(), 4))
		}
	default:
		in.fail("field number %d has an entry of unknown type %d", number, kind)
	}
}

// numeric reads a numeric entry; nil for addresses, which are no field's values.
func (e *entryReader4) numeric(number int32) *numeric {
	in := e.in
	way, missing := in.vint(), in.int64()
	n := &numeric{presence: e.present(missing), shift: -1, gcd: 1, packing: packing{order: binary.BigEndian}}
	if way == sparseNumbers && e.release >= 504 {
		return e.sparse(number, missing)
	}
	if e.release == 405 {
		in.vint() // version of packed ints
	}
	n.values.offset, n.count = in.int64(), in.vlong()
	e.starts = append(e.starts, n.values.offset)
	if e.release == 405 {
		n.packing.size = int64(in.vint())
	}
	addresses := e.numbers(way, n)
	switch e.release {
	case 405:
		n.packing.blocks = blocksTagged
		e.open = append(e.open, n)
		if in.err == nil && n.table == nil && (n.packing.size < 64 || n.packing.size > 1<<27) {
			in.fail("field number %d: blocks of %d values are impossible", number, n.packing.size)
		}
	default:
		n.values.length = in.int64() - n.values.offset
		if !addresses {
			e.d.checkSpan(in, n.values, "values of a field")
		}
		if in.err == nil && !directBits(n.bits) {
			in.fail("field number %d: values of %d bits are impossible", number, n.bits)
		}
	}
	if addresses {
		return nil
	}
	return n
}

// numbers reads what the way of writing needs, and reports whether these are
// addresses.
func (e *entryReader4) numbers(way int32, n *numeric) (addresses bool) {
	in := e.in
	withBits := e.release > 405
	switch {
	case way == constNumbers && e.release >= 500:
		n.min = in.int64()
		return false
	case way == deltaNumbers:
		if withBits {
			n.min = in.int64()
		}
	case way == gcdNumbers:
		n.min, n.gcd = in.int64(), in.int64()
	case way == tableNumbers:
		n.table = e.table()
		n.bits = bits.Len(uint(max(0, len(n.table)-1))) // a table of one takes a bit
		n.bits = max(1, n.bits)
	case way == monotonicNumbers && e.release >= 504:
		shift := in.vint()
		(&entryReader{in: in}).monotonic(int64(e.d.maxDoc)+1, shift)
		return true
	case way == monotonicNumbers && withBits:
		in.vint() // version of packed ints
		in.vint() // block size
		return true
	default:
		in.fail("numbers are written in the unknown way %d", way)
	}
	if withBits {
		n.bits = int(in.vint())
	}
	return false
}

func (e *entryReader4) table() []int64 {
	n := e.in.vint()
	if n > 256 {
		e.in.fail("a table of %d values, at most 256 are possible", n)
	}
	table := make([]int64, e.in.count(n, 8))
	for i := range table {
		table[i] = e.in.int64()
	}
	return table
}

// present turns the offset of the bitmap of documents with a value into where
// they are; −1 means all, −2 none.
func (e *entryReader4) present(missing int64) presence {
	switch missing {
	case -1:
		return presence{kind: presentAll}
	case -2:
		return presence{kind: presentNone}
	}
	e.starts = append(e.starts, missing)
	return presence{kind: presentBitmap, docs: span{missing, int64(e.d.maxDoc+7) / 8}}
}

// sparse reads an entry of 5.4 for a field that few documents have: ascending
// document numbers, and the numeric entry of their values.
func (e *entryReader4) sparse(number int32, missing int64) *numeric {
	in := e.in
	n := &numeric{presence: presence{kind: presentSparse, sparse: &monotonic{}}}
	count, shift := in.vlong(), in.vint()
	if in.err == nil && (count < 0 || count > int64(e.d.maxDoc) || shift < 2 || shift > 30) {
		in.fail("field number %d: %d documents in blocks of 2^%d are impossible", number, count, shift)
	}
	if in.err != nil {
		return n
	}
	n.count = count
	n.presence.count = count
	n.presence.sparse.readMeta(in, int(count), int(shift))
	from := in.int64()
	in.vlong() // documents
	in.byte()  // whether a missing one counts as 0 or −1
	n.presence.docs = span{missing, from - missing}
	e.d.checkSpan(in, n.presence.docs, "documents of a field")
	e.starts = append(e.starts, missing)
	if in.err == nil && (in.vint() != number || in.byte() != entryNumeric) {
		in.fail("field number %d: a sparse entry is not followed by its values", number)
	}
	// One level: values of a sparse entry are never sparse themselves.
	if in.err == nil && in.left() > 0 && in.data[in.pos] == sparseNumbers {
		in.fail("field number %d: a sparse entry in a sparse entry", number)
	}
	if in.err == nil {
		n.nested = e.numeric(number)
	}
	in.int64() // end of the values
	if in.err == nil && n.nested == nil {
		in.fail("field number %d: the values of a sparse entry are addresses", number)
	}
	return n
}

func (e *entryReader4) binary() {
	in := e.in
	way, missing := in.vint(), in.int64()
	in.vint() // shortest
	in.vint() // longest
	count := in.vlong()
	e.starts = append(e.starts, missing, in.int64())
	switch {
	case way == fixedBytes:
	case way == variableBytes && e.release >= 504:
		e.starts = append(e.starts, in.int64())
		shift := in.vint()
		if in.err == nil && (count < 0 || count > maxDocs+1) {
			in.fail("%d byte values are impossible", count)
		}
		(&entryReader{in: in}).monotonic(count+1, shift)
		in.int64() // end of addresses
	case way == variableBytes || way == prefixBytes:
		if way == prefixBytes && e.release < 410 {
			in.vint() // interval of addresses
		}
		e.starts = append(e.starts, in.int64())
		in.vint() // version of packed ints
		in.vint() // block size
		if way == prefixBytes && e.release >= 410 {
			e.starts = append(e.starts, in.int64()) // reverse index
		}
	default:
		in.fail("bytes are written in the unknown way %d", way)
	}
}

// closeSpans ends the values of 4.5 where the next thing in the .dvd begins, and
// checks those spans and the bitmaps.
func (e *entryReader4) closeSpans() {
	slices.Sort(e.starts)
	for _, n := range e.open {
		i, _ := slices.BinarySearch(e.starts, n.values.offset+1)
		end := e.d.end()
		if i < len(e.starts) {
			end = min(end, e.starts[i])
		}
		n.values.length = end - n.values.offset
	}
	for _, n := range e.d.numerics {
		if n.nested == nil {
			e.d.checkSpan(e.in, n.values, "values of a field")
		}
		if n.presence.kind == presentBitmap {
			e.d.checkSpan(e.in, n.presence.docs, "documents of a field")
		}
	}
}

// taggedValue returns a value of Lucene 4.5's blocks: a byte with the bits of a
// value and, lowest, whether the minimum is 0; else the minimum as a VLong (less
// one, sign lowest); then the packed values (BlockPackedWriter).
func (r *valueReader) taggedValue(index int64) (int64, error) {
	for r.block < index/r.packing.size {
		if err := r.nextTagged(); err != nil {
			return 0, err
		}
	}
	v, err := r.packed(index % r.packing.size)
	return (int64(v)+r.least)*r.gcd + r.min, err
}

func (r *valueReader) nextTagged() error {
	at := r.next
	head, err := r.in.at(at, int(min(11, r.values.end()-at)))
	if err != nil {
		return err
	}
	in := newInput(r.file.name, head)
	in.base = at
	token := in.byte()
	r.width, r.least = int(token>>1), 0
	if token&1 == 0 {
		z := uint64(in.vlong()) + 1
		r.least = int64(z>>1) ^ -int64(z&1)
	}
	if in.err == nil && r.width > 64 {
		in.fail("a block has values of %d bits", r.width)
	}
	if in.err != nil {
		return in.err
	}
	r.block++
	r.start = at + int64(in.pos)
	values := min(r.packing.size, r.count-r.block*r.packing.size)
	r.next = r.start + (values*int64(r.width)+7)/8
	return nil
}

// value returns the index-th number of the row, whose packed differences begin
// at start and are read by in, index ascending.
func (m *monotonic) value(in *forward, start, index int64) (int64, error) {
	b := &m.blocks[index>>m.shift]
	i := index & (1<<m.shift - 1)
	if b.width == 0 {
		return b.base + int64(b.step*float32(i)), nil
	}
	if b.width > 64 || b.offset < 0 || b.offset > in.bounds.length {
		return 0, in.file.corrupt(start, "a block of numbers of %d bits at byte %d of this part of the file", b.width, b.offset)
	}
	v, err := packedAt(in, start+b.offset, i, b.width, m.order)
	return b.base + int64(b.step*float32(i)) + int64(v), err
}
