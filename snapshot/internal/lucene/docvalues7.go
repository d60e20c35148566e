package lucene

// Types of entries in a .dvm, the same in all formats.
const (
	entryNumeric = iota
	entryBinary
	entrySorted
	entrySortedSet
	entrySortedNumeric
)

// entries7 reads the .dvm of Lucene 7.0 to 10.x: for each field number and type,
// what the type needs; −1 ends. Only numeric entries are kept, of the others just
// the length matters, which no count tells.
//
// Sources: the Javadoc of Lucene70DocValuesFormat, Lucene80DocValuesFormat and
// Lucene90DocValuesFormat.
func (d *docValues) entries7(in *input, format docValuesFormat, version int32, fields []FieldInfo) {
	byNumber := make(map[int32]FieldInfo, len(fields))
	for _, f := range fields {
		byNumber[f.Number] = f
	}
	e := entryReader{in: in, d: d, format: format, version: version}
	for in.err == nil {
		number := in.int32()
		if number == -1 {
			return
		}
		field, ok := byNumber[number]
		if in.err == nil && !ok {
			in.fail("has doc values of field number %d, which the segment lacks", number)
		}
		e.field = field
		e.entry(in.byte())
	}
}

// entryReader reads one entry after the other.
type entryReader struct {
	in      *input
	d       *docValues
	format  docValuesFormat
	version int32
	field   FieldInfo
}

func (e *entryReader) entry(kind byte) {
	if e.field.skipIndex && e.format.little {
		e.in.bytes(4*8 + 2*4) // offset, length, greatest, least, documents, last document
	}
	switch kind {
	case entryNumeric:
		n := e.numeric()
		if _, twice := e.d.numerics[e.field.Number]; twice {
			e.in.fail("field %s has two numeric entries", e.field.Name)
		}
		e.d.checkSpan(e.in, n.values, "values of field "+e.field.Name)
		e.d.numerics[e.field.Number] = n
	case entryBinary:
		e.binary()
	case entrySorted:
		e.sorted()
	case entrySortedSet:
		e.sortedSet()
	case entrySortedNumeric:
		n := e.numeric()
		if documents := e.in.int32(); int64(documents) != n.count {
			e.in.int64() // offset of addresses
			e.addresses(int64(documents) + 1)
		}
	default:
		e.in.fail("field %s has an entry of unknown type %d", e.field.Name, kind)
	}
}

// docs reads where the numbers of the documents with a value lie.
func (e *entryReader) docs() presence {
	p := presence{kind: presentBlocks, rankPower: -1}
	p.docs = span{e.in.int64(), e.in.int64()}
	var jumps int16
	if e.format.jumps {
		jumps = e.in.int16()
		p.rankPower = int8(e.in.byte())
	}
	switch p.docs.offset {
	case -1:
		p.kind = presentAll
	case -2:
		p.kind = presentNone
	default:
		e.d.checkSpan(e.in, p.docs, "documents of field "+e.field.Name)
		p.docs.length -= 8 * int64(jumps)
		if e.in.err == nil && (jumps < -1 || p.docs.length < 0 || (p.rankPower != -1 && (p.rankPower < 7 || p.rankPower > 15))) {
			e.in.fail("field %s has %d jumps and rank power %d, which is impossible", e.field.Name, jumps, p.rankPower)
		}
	}
	return p
}

func (e *entryReader) numeric() *numeric {
	in := e.in
	n := &numeric{presence: e.docs(), count: in.int64(), shift: -1}
	switch size := in.int32(); {
	case size > 256:
		in.fail("field %s has a table of %d values, at most 256 are possible", e.field.Name, size)
	case size >= 0:
		n.table = make([]int64, size)
		for i := range n.table {
			n.table[i] = in.int64()
		}
	case size < -1:
		n.shift = int(-2 - size)
	}
	n.bits = int(in.byte())
	n.min, n.gcd = in.int64(), in.int64()
	n.values = span{in.int64(), in.int64()}
	if e.format.jumps {
		in.int64() // offset of the blocks' jump table
	}
	n.packing = packing{blocks: blocksPlain, order: e.d.order}
	if in.err == nil && (n.count < 0 || n.shift > 30 || (n.shift < 0 && !directBits(n.bits))) {
		in.fail("field %s: %d values of %d bits in blocks of 2^%d are impossible", e.field.Name, n.count, n.bits, n.shift)
	}
	if len(n.table) == 0 {
		n.table = nil
	}
	return n
}

func (e *entryReader) binary() {
	in := e.in
	in.bytes(16) // values
	e.docs()
	documents, least, greatest := in.int32(), in.int32(), in.int32()
	compressed := e.compressedBinary()
	if (!compressed || documents <= 0) && least >= greatest {
		return
	}
	in.int64() // offset of addresses
	addresses := int64(documents) + 1
	if compressed {
		addresses = int64(in.vint())
		in.vint()
		in.vint()
	}
	e.addresses(addresses)
}

// compressedBinary: Lucene 8.5 and 8.6 compress all binary values, later 8.x
// those of fields that say so.
func (e *entryReader) compressedBinary() bool {
	if !e.format.jumps || e.format.little {
		return false
	}
	return e.version == 1 || (e.version == 2 && e.field.Attributes["Lucene80DocValuesFormat.mode"] == "BEST_COMPRESSION")
}

func (e *entryReader) sorted() {
	if e.format.little { // since Lucene 9 the ordinals are a numeric entry
		e.numeric()
	} else {
		e.docs()
		e.in.int32()        // documents
		e.in.bytes(1 + 2*8) // bits, ordinals
	}
	e.terms()
}

func (e *entryReader) sortedSet() {
	switch multiple := e.in.byte(); {
	case multiple == 0:
		e.sorted()
		return
	case multiple != 1:
		e.in.fail("field %s: the mark for several values is %d, not 0 or 1", e.field.Name, multiple)
		return
	case e.format.little:
		n := e.numeric()
		if documents := e.in.int32(); int64(documents) != n.count {
			e.in.int64()
			e.addresses(int64(documents) + 1)
		}
	default:
		e.docs()
		e.in.bytes(1 + 2*8) // bits, ordinals
		documents := e.in.int32()
		e.in.int64()
		e.addresses(int64(documents) + 1)
	}
	e.terms()
}

// addresses skips the description of n addresses, and their length.
func (e *entryReader) addresses(n int64) {
	e.monotonic(n, e.in.vint())
	e.in.int64()
}

// monotonic skips the description of n ascending numbers: 21 bytes for each
// block of 1<<shift (DirectMonotonicReader).
func (e *entryReader) monotonic(n int64, shift int32) {
	if n < 0 || shift < 2 || shift > 30 {
		e.in.fail("field %s: %d addresses in blocks of 2^%d are impossible", e.field.Name, n, shift)
		return
	}
	const each = 8 + 4 + 8 + 1
	blocks := n>>shift + min(1, n&(1<<shift-1))
	if blocks > int64(e.in.left()) {
		e.in.fail("field %s: %d blocks of addresses are promised, %d bytes are left", e.field.Name, blocks, e.in.left())
		return
	}
	e.in.bytes(int(blocks) * each)
}

// terms skips the description of the dictionary of terms of a sorted field.
func (e *entryReader) terms() {
	in := e.in
	size := in.vlong()
	const compressedShift = 6 // of blocks, since 9.0 and where 8.x says so
	blockShift, compressed := int32(compressedShift), e.format.little
	if !e.format.little {
		const compressedMark = compressedShift<<16 | 1
		blockShift = in.int32()
		if compressed = e.format.jumps && blockShift == compressedMark; compressed {
			blockShift = compressedShift
		}
	}
	addressShift := in.int32()
	e.blocks(size, blockShift, addressShift, 0)
	in.int32() // longest term
	if compressed {
		in.int32() // longest block
	}
	in.bytes(4 * 8) // terms and their addresses
	e.blocks(size, in.int32(), addressShift, 1)
	in.bytes(4 * 8) // index and its addresses
}

// blocks skips the addresses of size terms in blocks of 1<<shift, and of more.
func (e *entryReader) blocks(size int64, shift, addressShift int32, more int64) {
	if size < 0 || shift < 0 || shift > 30 || size > 1<<62 {
		e.in.fail("field %s: %d terms in blocks of 2^%d are impossible", e.field.Name, size, shift)
		return
	}
	e.monotonic((size+1<<shift-1)>>shift+more, addressShift)
}
