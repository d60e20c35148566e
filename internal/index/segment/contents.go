package segment

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/reshelve/reshelve/internal/fault"
)

const (
	magic      = "RSHLVSEG"
	version    = 1
	headerSize = 16
	footerSize = 48
)

// The options of the table of contents.
const (
	optionAscending = 1
	optionLengths   = 1
	optionPoints    = 2
)

// contents is the table of contents.
type contents struct {
	docs, roots uint32
	ascending   bool
	streams     [3]stream // terms, postings, positions
	rootSet     *docSet
	keys        uint64
	seqNos      array
	fields      []*Field
}

// footer ends a file.
type footer struct {
	body uint64 // length of what has checksums
	tail uint64 // length of the checksums and the table of contents
	sum  uint32 // of these
}

// encode appends the footer to what stands before it in a file, behind its body.
func (f *footer) encode(b []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, f.body)
	b = binary.LittleEndian.AppendUint64(b, f.tail)
	b = binary.LittleEndian.AppendUint64(b, f.body+f.tail+footerSize)
	b = binary.LittleEndian.AppendUint32(b, f.sum)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
	return append(b, magic...)
}

// readFooter checks what a file begins and ends with.
func readFooter(data []byte) (f footer, err error) {
	if len(data) < headerSize+bodyPad+footerSize {
		return f, damaged("%d bytes are no segment", len(data))
	}
	b := data[len(data)-footerSize:]
	if string(b[40:]) != magic {
		return f, damaged("the file does not end as a segment does")
	}
	if crc32.Checksum(b[:36], castagnoli) != binary.LittleEndian.Uint32(b[36:]) {
		return f, damaged("the checksum of the footer differs")
	}
	if v := binary.LittleEndian.Uint32(b[32:]); v != version {
		return f, fault.New(fault.Refused, "version %d of segments is not known", v)
	}
	f.body = binary.LittleEndian.Uint64(b)
	f.tail = binary.LittleEndian.Uint64(b[8:])
	f.sum = binary.LittleEndian.Uint32(b[24:])
	size := uint64(len(data))
	if binary.LittleEndian.Uint64(b[16:]) != size || f.body > size || f.tail > size || f.body+f.tail+footerSize != size ||
		f.body < headerSize+bodyPad {
		return f, damaged("the footer is not that of a file of %d bytes", size)
	}
	if binary.LittleEndian.Uint32(b[28:]) != 0 {
		return f, fault.New(fault.Refused, "the footer has options that are not known")
	}
	if string(data[:8]) != magic || binary.LittleEndian.Uint64(data[8:]) != version {
		return f, damaged("the file does not begin as a segment does")
	}
	return f, nil
}

// encode appends the table of contents.
func (t *contents) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(t.docs))
	b = binary.AppendUvarint(b, uint64(t.roots))
	b = append(b, flag(t.ascending, optionAscending))
	for i := range t.streams {
		b = binary.AppendUvarint(b, t.streams[i].length)
		for _, at := range t.streams[i].extents {
			b = binary.AppendUvarint(b, at)
		}
	}
	b = t.rootSet.encode(b)
	b = binary.AppendUvarint(b, t.keys)
	b = t.seqNos.encode(b)
	b = binary.AppendUvarint(b, uint64(len(t.fields)))
	for _, f := range t.fields {
		b = f.encode(b)
	}
	return b
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

func (f *Field) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(f.name)))
	b = append(b, f.name...)
	b = append(b, byte(f.spec.Postings), byte(f.spec.Column),
		flag(f.spec.Lengths, optionLengths)|flag(f.spec.Points, optionPoints))
	b = binary.AppendUvarint(b, uint64(f.stats.Docs))
	b = binary.AppendUvarint(b, uint64(f.stats.Postings))
	b = binary.AppendUvarint(b, uint64(f.stats.Frequencies))
	b = f.existing.encode(b)
	b = binary.AppendUvarint(b, uint64(f.dict.terms))
	if f.dict.terms > 0 {
		b = binary.AppendUvarint(b, f.dict.index)
		b = binary.AppendUvarint(b, f.dict.indexSize)
	}
	if f.spec.Lengths {
		b = f.lengthSet.encode(b)
		b = binary.AppendUvarint(b, f.lengthsAt)
	}
	switch f.spec.Column {
	case Numbers:
		b = f.numbers.encode(b)
		b = binary.LittleEndian.AppendUint64(b, uint64(f.numbers.least))
		b = binary.LittleEndian.AppendUint64(b, uint64(f.numbers.greatest))
	case Ordinals:
		b = f.ordinals.encode(b)
	}
	if f.spec.Points {
		b = binary.AppendUvarint(b, f.points.n)
		b = binary.AppendUvarint(b, f.points.table)
	}
	return b
}

func (d *docSet) encode(b []byte) []byte {
	b = append(b, d.kind)
	if d.kind == setBits || d.kind == setList {
		b = binary.AppendUvarint(b, uint64(d.count))
		b = binary.AppendUvarint(b, d.at)
	}
	return b
}

func (a *array) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, a.n)
	b = binary.AppendUvarint(b, a.scale)
	return binary.AppendUvarint(b, a.table)
}

func (c *column) encode(b []byte) []byte {
	b = c.docs.encode(b)
	b = append(b, flag(c.several, 1))
	if c.several {
		b = c.starts.encode(b)
	}
	return c.values.encode(b)
}

// decoder reads the table of contents. What is wrong is a panic with *Damaged.
type decoder struct {
	src  *source
	b    []byte
	docs uint32
}

func (d *decoder) varint() uint64 {
	v, n := varint(d.b, 0)
	d.b = d.b[n:]
	return v
}

// upTo reads a number that is not above a limit.
func (d *decoder) upTo(limit uint64) uint64 {
	v := d.varint()
	if v > limit {
		panic(damaged("the table of contents has %d where %d is the most", v, limit))
	}
	return v
}

func (d *decoder) byteUpTo(limit byte) byte {
	v := d.take(1)[0]
	if v > limit {
		panic(damaged("the table of contents has an option %d that is not known", v))
	}
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		panic(damaged("the table of contents ends early"))
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// section reads the offset of so many bytes of the body.
func (d *decoder) section(n uint64) uint64 {
	if n > d.src.body {
		panic(damaged("a section is greater than the file"))
	}
	return d.upTo(d.src.body - n)
}

func (d *decoder) contents() *contents {
	t := &contents{}
	t.docs = uint32(d.upTo(maxDocs))
	d.docs = t.docs
	t.roots = uint32(d.upTo(uint64(t.docs)))
	t.ascending = d.byteUpTo(optionAscending) != 0
	for i := range t.streams {
		t.streams[i] = d.stream()
	}
	t.rootSet = d.docSet()
	if t.rootSet.count != t.roots {
		panic(damaged("%d of %d documents", t.rootSet.count, t.roots))
	}
	t.keys = d.section(8 * uint64(t.docs))
	t.seqNos = d.array(uint64(t.docs))
	n := d.upTo(uint64(len(d.b)))
	before := ""
	for i := range n {
		f := d.field(t)
		if i > 0 && f.name <= before {
			panic(damaged("fields are not in order"))
		}
		before = f.name
		t.fields = append(t.fields, f)
	}
	if len(d.b) > 0 {
		panic(damaged("the table of contents is too long"))
	}
	return t
}

func (d *decoder) stream() stream {
	s := stream{src: d.src, length: d.upTo(d.src.body)}
	for left := s.length; left > 0; left -= min(left, extentSize) {
		s.extents = append(s.extents, d.section(min(left, extentSize)))
	}
	return s
}

func (d *decoder) docSet() *docSet {
	s := &docSet{src: d.src, docs: d.docs, kind: d.byteUpTo(setList)}
	switch s.kind {
	case setAll:
		s.count = d.docs
	case setBits:
		s.count = uint32(d.upTo(uint64(d.docs)))
		w := wordsOf(d.docs)
		s.at = d.section(8*w + 4*((w+rankOf-1)/rankOf))
	case setList:
		s.count = uint32(d.upTo(uint64(d.docs)))
		s.at = d.section(4 * uint64(s.count))
	}
	return s
}

// array reads an array of so many numbers.
func (d *decoder) array(n uint64) array {
	a := array{src: d.src, n: d.varint(), scale: d.varint()}
	if a.n != n || n > math.MaxInt64/8 {
		panic(damaged("%d numbers instead of %d", a.n, n))
	}
	a.table = d.section(16 * ((n + arrayBlock - 1) / arrayBlock))
	return a
}

func (d *decoder) field(t *contents) *Field {
	f := &Field{docs: d.docs, src: d.src}
	f.name = string(d.take(d.varint()))
	f.spec.Postings = Postings(d.byteUpTo(byte(Positions)))
	f.spec.Column = Column(d.byteUpTo(byte(Ordinals)))
	options := d.byteUpTo(optionLengths | optionPoints)
	f.spec.Lengths, f.spec.Points = options&optionLengths != 0, options&optionPoints != 0
	f.stats.Docs = int64(d.upTo(math.MaxInt64))
	f.stats.Postings = int64(d.upTo(math.MaxInt64))
	f.stats.Frequencies = int64(d.upTo(math.MaxInt64))
	f.existing = d.docSet()
	f.dict = d.dictionary(t, f.spec.Postings)
	f.postings, f.positions = &t.streams[1], &t.streams[2]
	if f.spec.Lengths {
		f.lengthSet = d.docSet()
		f.lengthsAt = d.section(uint64(f.lengthSet.count))
	}
	switch f.spec.Column {
	case Numbers:
		f.numbers = &NumberColumn{column: d.column()}
		f.numbers.least = int64(binary.LittleEndian.Uint64(d.take(8)))
		f.numbers.greatest = int64(binary.LittleEndian.Uint64(d.take(8)))
	case Ordinals:
		f.ordinals = &OrdinalColumn{column: d.column(), terms: f.dict.terms}
	}
	if f.spec.Points {
		f.points = &PointIndex{src: d.src, docs: d.docs, n: d.varint()}
		if f.points.n > math.MaxInt64/32 {
			panic(damaged("%d points", f.points.n))
		}
		f.points.table = d.section(pointEntry * f.points.blocks())
	}
	return f
}

func (d *decoder) dictionary(t *contents, with Postings) *dictionary {
	dict := &dictionary{src: d.src, stream: &t.streams[0], with: with, docs: d.docs}
	dict.terms = uint32(d.upTo(math.MaxUint32))
	if dict.terms == 0 {
		return dict
	}
	dict.index = d.section(0)
	dict.indexSize = d.upTo(d.src.body - dict.index)
	if dict.heads() > dict.indexSize {
		panic(damaged("the index of a dictionary is too short"))
	}
	return dict
}

func (d *decoder) column() column {
	c := column{docs: d.docSet()}
	c.several = d.byteUpTo(1) != 0
	n := uint64(c.docs.count)
	if c.several {
		c.starts = d.array(n + 1)
		peek := *d // the number of values stands first
		n = peek.varint()
	}
	c.values = d.array(n)
	return c
}
