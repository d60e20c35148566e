package segment

import (
	"encoding/binary"
	"math/bits"
)

// point is a number of a doc.
type point struct {
	n   int64
	doc Doc
}

// pointWriter writes points, which come in their order.
type pointWriter struct {
	file  *file
	block [pointBlock]point
	n     int // in the block
	total uint64
	table []byte
	buf   []byte
}

func (w *pointWriter) add(p point) {
	w.block[w.n] = p
	if w.n++; w.n == pointBlock {
		w.flush()
	}
}

func (w *pointWriter) flush() {
	block := w.block[:w.n]
	first, last := block[0].n, block[len(block)-1].n
	least, greatest := block[0].doc, block[0].doc
	for _, p := range block {
		least, greatest = min(least, p.doc), max(greatest, p.doc)
	}
	wide, v := widthOf(uint64(last)-uint64(first)), uint64(bits.Len32(greatest-least))
	w.table = binary.LittleEndian.AppendUint64(w.table, uint64(first))
	w.table = binary.LittleEndian.AppendUint64(w.table, uint64(last))
	w.table = binary.LittleEndian.AppendUint64(w.table, w.file.at)
	w.table = binary.LittleEndian.AppendUint32(w.table, least)
	w.table = append(w.table, byte(wide), byte(v), 0, 0)
	p := packer{out: w.buf[:0], width: wide}
	for _, point := range block {
		p.add(uint64(point.n) - uint64(first))
	}
	p = packer{out: p.close(), width: v}
	for _, point := range block {
		p.add(uint64(point.doc - least))
	}
	w.buf = p.close()
	w.file.write(w.buf)
	w.total += uint64(w.n)
	w.n = 0
}

// close writes what is left, and the table.
func (w *pointWriter) close() *PointIndex {
	if w.n > 0 {
		w.flush()
	}
	p := &PointIndex{n: w.total, table: w.file.at}
	w.file.write(w.table)
	return p
}

// sortPoints brings points, whose docs ascend, into their order: a stable radix sort by the
// bytes in which the numbers differ. Spare is of the same length; one of both is given back.
func sortPoints(points, spare []point) []point {
	if len(points) == 0 {
		return points
	}
	const sign = 1 << 63 // negative numbers come first
	differ, sorted := uint64(0), true
	for i, p := range points {
		differ |= uint64(p.n ^ points[0].n)
		sorted = sorted && (i == 0 || points[i-1].n <= p.n)
	}
	if sorted {
		return points
	}
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var at [257]int
		for _, p := range points {
			at[(uint64(p.n)^sign)>>shift&0xff+1]++
		}
		for i := range 256 {
			at[i+1] += at[i]
		}
		for _, p := range points {
			k := (uint64(p.n) ^ sign) >> shift & 0xff
			spare[at[k]] = p
			at[k]++
		}
		points, spare = spare, points
	}
	return points
}
