package lucene

import (
	"encoding/binary"

	"github.com/reshelve/reshelve/internal/fault"
)

// input is a cursor over the bytes of one file. The first failed read sticks:
// every later one returns zero, and err tells place and cause. So a parser reads
// a structure in a row and asks once; loops over a count that stands in the
// file use count, which bounds it.
type input struct {
	name string // the file, for errors
	data []byte
	pos  int
	base int64 // offset of data[0] in the file, for errors
	// order is the byte order of fixed-width numbers: big-endian up to Lucene 8,
	// little-endian from 9 on (headers, footers and segments_N stay big-endian).
	order binary.ByteOrder
	err   error
}

func newInput(name string, data []byte) *input {
	return &input{name: name, data: data, order: binary.BigEndian}
}

// fail records the first error, placed at the cursor.
func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fault.At(fault.New(fault.Corrupt, format, args...), "file "+in.name, offsetPlace(in.base+int64(in.pos)))
	}
}

func (in *input) left() int { return len(in.data) - in.pos }

// bytes returns the next n bytes, which stay part of the file's buffer.
func (in *input) bytes(n int) []byte {
	if in.err != nil {
		return nil
	}
	if n < 0 || n > in.left() {
		in.fail("%d bytes wanted, %d are left", n, in.left())
		return nil
	}
	b := in.data[in.pos : in.pos+n]
	in.pos += n
	return b
}

func (in *input) byte() byte {
	if b := in.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (in *input) int16() int16 {
	if b := in.bytes(2); b != nil {
		return int16(in.order.Uint16(b))
	}
	return 0
}

func (in *input) int32() int32 {
	if b := in.bytes(4); b != nil {
		return int32(in.order.Uint32(b))
	}
	return 0
}

func (in *input) int64() int64 {
	if b := in.bytes(8); b != nil {
		return int64(in.order.Uint64(b))
	}
	return 0
}

// vint reads Lucene's variable-length int: 7 bits a byte, lowest first, at most
// five bytes; negative numbers take all five.
func (in *input) vint() int32 { return int32(uint32(in.varint(5))) }

// vlong reads Lucene's variable-length long: at most nine bytes, ten where the
// writer allowed negative ones.
func (in *input) vlong() int64 { return int64(in.varint(10)) }

func (in *input) varint(most int) uint64 {
	var v uint64
	for i := 0; i < most && in.err == nil; i++ {
		b := in.byte()
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v
		}
	}
	in.fail("a variable-length number has more than %d bytes", most)
	return 0
}

// count checks a number of items that stands in the file: each takes at least
// each bytes, so more than fit are impossible. Returns 0 on failure.
func (in *input) count(n int32, each int) int {
	if in.err == nil && (n < 0 || int64(n)*int64(each) > int64(in.left())) {
		in.fail("%d items of at least %d bytes are promised, %d bytes are left", n, each, in.left())
	}
	if in.err != nil {
		return 0
	}
	return int(n)
}

// string reads a VInt length and that many UTF-8 bytes.
func (in *input) string() string { return string(in.bytes(int(in.vint()))) }

// list reads n strings. Lucene 4 wrote the count as an int32, later ones as a VInt.
func (in *input) list(n int32) []string {
	var set []string
	for range in.count(n, 1) {
		set = append(set, in.string())
	}
	return set
}

// stringMap reads a VInt count and that many pairs of strings.
func (in *input) stringMap() map[string]string { return in.pairs(in.vint()) }

// pairs reads n pairs of strings; see list.
func (in *input) pairs(n int32) map[string]string {
	m := map[string]string{}
	for range in.count(n, 2) {
		k := in.string()
		m[k] = in.string()
	}
	return m
}

// end checks that everything was read.
func (in *input) end() error {
	if in.err == nil && in.left() != 0 {
		in.fail("%d bytes are left over", in.left())
	}
	return in.err
}

// failWith records err, placed in the file, as the first error.
func (in *input) failWith(err error) {
	if in.err == nil {
		in.err = fault.At(err, "file "+in.name)
	}
}
