package segment

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	arrayShift = 10 // of a block of 1024 numbers
	arrayBlock = 1 << arrayShift
)

// array is a sequence of numbers in a file; see FORMAT.md.
type array struct {
	src   *source
	n     uint64
	scale uint64
	table uint64
}

// block is one block of an array, ready to be read.
type block struct {
	base  uint64
	width uint64
	mask  uint64
	bytes []byte // with eight more behind them; nil when the width is 0
}

// block gives the i-th block, which is there.
func (a *array) block(i uint64) block {
	head := a.src.bytes(a.table+16*i, 16)
	b := block{base: binary.LittleEndian.Uint64(head)}
	at := binary.LittleEndian.Uint64(head[8:])
	b.width, at = at&0xff, at>>8
	b.mask = maskOf(b.width)
	if b.width > 0 {
		n := min(a.n-i<<arrayShift, arrayBlock)
		b.bytes = a.src.bytes(at, (n*b.width+7)/8)
		b.bytes = b.bytes[:len(b.bytes)+8]
	}
	return b
}

// maskOf has the lowest bits set; it refuses widths that nobody writes.
func maskOf(width uint64) uint64 {
	if width > 57 && width != 64 {
		panic(damaged("numbers of %d bits", width))
	}
	return math.MaxUint64 >> (64 - width)
}

// get is the i-th packed number of the block, not yet scaled.
func (b *block) get(i uint64) uint64 {
	if b.width == 0 {
		return 0
	}
	bit := i * b.width
	return binary.LittleEndian.Uint64(b.bytes[bit>>3:]) >> (bit & 7) & b.mask
}

// get is the i-th number.
func (a *array) get(i uint64) int64 {
	if i >= a.n {
		panic(damaged("number %d of %d", i, a.n))
	}
	head := a.src.bytes(a.table+16*(i>>arrayShift), 16)
	base := binary.LittleEndian.Uint64(head)
	at := binary.LittleEndian.Uint64(head[8:])
	width := at & 0xff
	if width == 0 {
		return int64(base)
	}
	bit := i & (arrayBlock - 1) * width
	packed := a.src.u64(at>>8+bit>>3) >> (bit & 7) & maskOf(width)
	return int64(base + packed*a.scale)
}

// read puts the numbers of ascending places into n.
func (a *array) read(places []uint32, n []int64) {
	for len(places) > 0 {
		if uint64(places[0]) >= a.n {
			panic(damaged("number %d of %d", places[0], a.n))
		}
		of := places[0] >> arrayShift
		k := 1
		for k < len(places) && places[k]>>arrayShift == of && uint64(places[k]) < a.n {
			k++
		}
		b := a.block(uint64(of))
		b.gather(n[:k], places[:k], a.scale)
		places, n = places[k:], n[k:]
	}
}

// gather puts the numbers of places of the block into n.
func (b *block) gather(n []int64, places []uint32, scale uint64) {
	if b.width == 0 {
		for k := range n {
			n[k] = int64(b.base)
		}
		return
	}
	base, width, mask, bytes := b.base, b.width, b.mask, b.bytes
	for k, p := range places[:len(n)] {
		bit := uint64(p&(arrayBlock-1)) * width
		n[k] = int64(base + binary.LittleEndian.Uint64(bytes[bit>>3:])>>(bit&7)&mask*scale)
	}
}

// unpack puts numbers of the block, from the i-th on, into dst.
func (b *block) unpack(dst []int64, i, scale uint64) {
	if b.width == 0 {
		for k := range dst {
			dst[k] = int64(b.base)
		}
		return
	}
	bit, base, width, mask, bytes := i*b.width, b.base, b.width, b.mask, b.bytes
	for k := range dst {
		dst[k] = int64(base + binary.LittleEndian.Uint64(bytes[bit>>3:])>>(bit&7)&mask*scale)
		bit += width
	}
}

// scaler finds the scale of an array: the greatest common divisor of all differences.
type scaler struct {
	first int64
	scale uint64
	any   bool
}

func (s *scaler) add(v int64) {
	switch {
	case !s.any:
		s.first, s.any = v, true
	case s.scale != 1 && v != s.first:
		d := uint64(v) - uint64(s.first)
		if v < s.first {
			d = uint64(s.first) - uint64(v)
		}
		for s.scale, d = d, s.scale; d != 0; {
			s.scale, d = d, s.scale%d
		}
	}
}

// get is the scale.
func (s *scaler) get() uint64 { return max(s.scale, 1) }

// arrayWriter writes an array.
type arrayWriter struct {
	file  *file
	scale uint64
	block [arrayBlock]int64
	n     int // in the block
	total uint64
	table []byte
	buf   []byte
}

func newArrayWriter(f *file, scale uint64) *arrayWriter {
	return &arrayWriter{file: f, scale: scale}
}

func (w *arrayWriter) add(v int64) {
	w.block[w.n] = v
	if w.n++; w.n == arrayBlock {
		w.flush()
	}
}

func (w *arrayWriter) flush() {
	values := w.block[:w.n]
	least, greatest := values[0], values[0]
	for _, v := range values {
		least, greatest = min(least, v), max(greatest, v)
	}
	width := widthOf((uint64(greatest) - uint64(least)) / w.scale)
	w.table = binary.LittleEndian.AppendUint64(w.table, uint64(least))
	w.table = binary.LittleEndian.AppendUint64(w.table, w.file.at<<8|width)
	p := packer{out: w.buf[:0], width: width}
	for _, v := range values {
		p.add((uint64(v) - uint64(least)) / w.scale)
	}
	w.buf = p.close()
	w.file.write(w.buf)
	w.total += uint64(w.n)
	w.n = 0
}

// close writes what is left, and the table.
func (w *arrayWriter) close() array {
	if w.n > 0 {
		w.flush()
	}
	a := array{n: w.total, scale: w.scale, table: w.file.at}
	w.file.write(w.table)
	return a
}

// widthOf is how many bits a number is packed in.
func widthOf(v uint64) uint64 {
	w := uint64(bits.Len64(v))
	if w > 57 {
		return 64
	}
	return w
}

// packer puts numbers of one width behind each other.
type packer struct {
	out   []byte
	width uint64
	word  uint64
	used  uint64
}

func (p *packer) add(v uint64) {
	p.word |= v << p.used
	p.used += p.width
	if p.used >= 64 {
		p.out = binary.LittleEndian.AppendUint64(p.out, p.word)
		p.used -= 64
		p.word = v >> (p.width - p.used) // 0 when nothing is left: a shift by 64
	}
}

// close gives the bytes.
func (p *packer) close() []byte {
	for ; p.used > 0; p.used -= min(p.used, 8) {
		p.out = append(p.out, byte(p.word))
		p.word >>= 8
	}
	return p.out
}

// arrayReader reads an array from front to back.
type arrayReader struct {
	a    *array
	next uint64 // behind what buf holds
	buf  []int64
	at   int
	mem  [arrayBlock]int64
}

// take gives the next number.
func (r *arrayReader) take() int64 {
	if r.at == len(r.buf) {
		n := min(r.a.n-r.next, arrayBlock)
		if n == 0 {
			panic(damaged("number %d of %d", r.next, r.a.n))
		}
		b := r.a.block(r.next >> arrayShift)
		r.buf, r.at = r.mem[:n], 0
		b.unpack(r.buf, 0, r.a.scale)
		r.next += n
	}
	r.at++
	return r.buf[r.at-1]
}
