package lucene

import "encoding/binary"

// packing is how the numbers of a field are laid out.
type packing struct {
	blocks blockKind
	order  binary.ByteOrder
	size   int64 // blocksTagged: values of a block
}

type blockKind uint8

const (
	// blocksPlain: all values in one run, or (numeric.shift ≥ 0) in blocks that
	// begin with bits, minimum and, unless bits is 0, length in bytes.
	blocksPlain blockKind = iota
	// blocksTagged: blocks that begin with bits and minimum in a variable-length
	// form (Lucene 4.5, BlockPackedWriter).
	blocksTagged
)

// directBits reports whether DirectWriter packs values of so many bits. 0 means
// that there is nothing to pack.
func directBits(n int) bool {
	switch n {
	case 0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64:
		return true
	}
	return false
}

// valueReader reads the values of a numeric field, by ascending index.
type valueReader struct {
	*numeric
	file   *docValues
	in     *forward
	block  int64 // that start, bits and min are of; −1: none yet
	next   int64 // offset of the block after
	start  int64 // offset of the packed values
	width  int   // bits of a value in the block
	least  int64 // added to each value of the block
	factor int64
}

func (d *docValues) valueReader(n *numeric) *valueReader {
	r := &valueReader{numeric: n, file: d, in: d.forward(n.values), block: -1, next: n.values.offset}
	r.start, r.width, r.least, r.factor = n.values.offset, n.bits, n.min, n.gcd
	return r
}

// value returns the value at an index, which is not below that of earlier calls.
func (r *valueReader) value(index int64) (int64, error) {
	if index < 0 || index >= r.count {
		return 0, r.file.corrupt(r.values.offset, "value %d is wanted of %d", index, r.count)
	}
	if r.packing.blocks == blocksTagged && r.table == nil {
		return r.taggedValue(index)
	}
	if r.shift >= 0 {
		for r.block < index>>r.shift {
			if err := r.nextBlock(); err != nil {
				return 0, err
			}
		}
		index &= 1<<r.shift - 1
	}
	v, err := r.packed(index)
	if err != nil {
		return 0, err
	}
	if r.table == nil {
		return int64(v)*r.factor + r.least, nil
	}
	if v >= uint64(len(r.table)) {
		return 0, r.file.corrupt(r.start, "value %d is number %d of a table of %d", index, v, len(r.table))
	}
	return r.table[v], nil
}

// nextBlock reads the head of the block at next.
func (r *valueReader) nextBlock() error {
	head, err := r.in.at(r.next, 9)
	if err != nil {
		return err
	}
	r.width, r.least = int(head[0]), int64(r.packing.order.Uint64(head[1:]))
	at := r.next
	r.next += 9
	if r.width != 0 {
		b, err := r.in.at(r.next, 4)
		if err != nil {
			return err
		}
		r.start = r.next + 4
		length := int64(int32(r.packing.order.Uint32(b)))
		if !directBits(r.width) || length < 0 || r.start+length > r.values.end() {
			return r.file.corrupt(at, "a block of %d bytes with values of %d bits is impossible here", length, r.width)
		}
		r.next = r.start + length
	}
	r.block++
	return nil
}

// packed returns the index-th number behind start. Big-endian numbers follow
// each other from the highest bit of each byte, little-endian ones from the
// lowest (DirectWriter; LegacyDirectWriter, PackedInts).
func (r *valueReader) packed(index int64) (uint64, error) {
	if r.width == 0 {
		return 0, nil
	}
	return packedAt(r.in, r.start, index, r.width, r.packing.order)
}

// packedAt returns the index-th number of so many bits (1 to 64) behind start.
func packedAt(in *forward, start, index int64, width int, order binary.ByteOrder) (uint64, error) {
	bit := index * int64(width)
	skip := int(bit & 7)
	n := (skip + width + 7) >> 3 // up to 9 bytes
	b, err := in.at(start+bit>>3, n)
	if err != nil {
		return 0, err
	}
	return packedBits(b, int64(skip), width, order), nil
}
