package segment

import (
	"encoding/binary"
	"math"

	"github.com/reshelve/reshelve/internal/fault"
)

// listWriter writes the postings of one term after the other. Positions are to be given
// before the docs that they are of: as many as the docs' frequencies say.
type listWriter struct {
	file    *file
	with    Postings
	lengths []byte // by doc; nil without

	docs  [listBlock]Doc
	freqs [listBlock]uint32
	n     int // of the block

	total       uint32 // docs before the block
	frequencies uint64 // of these
	before      Doc    // the last of them
	from        uint64 // where the list begins
	where       uint64 // its positions
	table       []byte
	impacts     []byte // of the blocks
	best        []Impact
	all         []Impact // of the list
	places      []byte   // positions of the block, perhaps with more
	written     uint64   // positions, in bytes
	buf         []byte
}

// reset makes it ready for a field.
func (w *listWriter) reset(f *file, with Postings, lengths []byte) {
	w.file, w.with, w.lengths = f, with, lengths
	w.restart()
}

func (w *listWriter) restart() {
	w.n, w.total, w.frequencies, w.before, w.written = 0, 0, 0, math.MaxUint32, 0
	w.from, w.where = w.file.postings.length(), w.file.positions.length()
	w.table, w.impacts, w.places, w.all = w.table[:0], w.impacts[:0], w.places[:0], w.all[:0]
}

// add puts a doc, greater than the one before.
func (w *listWriter) add(doc Doc, frequency uint32) {
	if w.n == listBlock {
		w.flush()
	}
	w.docs[w.n], w.freqs[w.n] = doc, frequency
	w.n++
}

// place puts a position, as the difference to the one before in the doc.
func (w *listWriter) place(v uint64) {
	if v < 0x80 {
		w.places = append(w.places, byte(v))
	} else {
		w.places = binary.AppendUvarint(w.places, v)
	}
}

// copyPlaces puts positions as they are written.
func (w *listWriter) copyPlaces(b []byte) { w.places = append(w.places, b...) }

// flush writes a full block.
func (w *listWriter) flush() {
	w.row()
	greatest, often := uint32(0), uint32(0)
	before := w.before
	w.before = w.docs[listBlock-1]
	for i, doc := range w.docs {
		v := doc - before - 1
		before = doc
		w.docs[i] = v
		greatest |= v
	}
	width := packWidth(greatest)
	fw := 0
	if w.with >= Frequencies {
		for i, f := range w.freqs {
			w.frequencies += uint64(f)
			w.freqs[i] = f - 1
			often |= f - 1
		}
		fw = packWidth(often)
	}
	b := append(w.buf[:0], byte(width), byte(fw))
	b = pack(b, &w.docs, width)
	if w.with >= Frequencies {
		b = pack(b, &w.freqs, fw)
	}
	w.buf = b
	w.file.postings.write(b)
	w.total += listBlock
	w.n = 0
}

// row puts a block into the table, and writes its positions.
func (w *listWriter) row() {
	last := Doc(math.MaxUint32) // of what ends the table
	if w.n > 0 {
		last = w.docs[w.n-1]
	}
	begin := w.file.postings.length() - w.from
	if begin > math.MaxUint32 || w.written > math.MaxUint32 || len(w.impacts) > math.MaxUint32 {
		w.file.fail(fault.New(fault.Limit, "the postings of a term are greater than 4 GiB"))
	}
	for _, v := range []uint64{uint64(last), begin, w.written, uint64(len(w.impacts))} {
		w.table = binary.LittleEndian.AppendUint32(w.table, uint32(v))
	}
	if w.n == 0 {
		return
	}
	w.impacts = appendImpacts(w.impacts, w.rate())
	if w.with >= Positions {
		w.position()
	}
}

// rate finds the impacts of the block.
func (w *listWriter) rate() []Impact {
	w.best = w.best[:0]
	pair := Impact{Frequency: 1, Length: 1}
	if w.lengths == nil && w.with < Frequencies {
		w.best = append(w.best, pair)
	} else {
		last := Impact{}
		for i, doc := range w.docs[:w.n] {
			if w.with >= Frequencies {
				pair.Frequency = w.freqs[i]
			}
			if w.lengths != nil {
				pair.Length = w.lengths[doc]
			}
			if pair != last {
				w.best = addImpact(w.best, pair)
				last = pair
			}
		}
	}
	for _, pair := range w.best {
		w.all = addImpact(w.all, pair)
	}
	return w.best
}

// position writes the positions of the block.
func (w *listWriter) position() {
	n := uint64(0)
	for _, f := range w.freqs[:w.n] {
		n += uint64(f)
	}
	end, _ := skipVarints(w.places, n)
	w.file.positions.write(w.places[:end])
	w.written += uint64(end)
	w.places = w.places[:copy(w.places, w.places[end:])]
}

// end writes what is left, and gives the entry; its docs are 0 when nothing was added.
func (w *listWriter) end() entryData {
	e := entryData{docs: w.total + uint32(w.n), doc: w.docs[0], at: w.from, where: w.where}
	if w.n == listBlock {
		w.flush()
	}
	switch {
	case w.total > 0:
		w.long()
	case e.docs > 1:
		w.tail()
	}
	e.frequencies = w.frequencies
	for _, f := range w.freqs[:w.n] {
		e.frequencies += uint64(f)
	}
	if w.with < Frequencies {
		e.frequencies = uint64(e.docs)
	}
	if w.with >= Positions {
		w.file.positions.write(w.places)
		w.written += uint64(len(w.places))
	}
	e.size, e.extent = w.file.postings.length()-w.from, w.written
	w.restart()
	return e
}

// long writes what follows the blocks of a long list.
func (w *listWriter) long() {
	if w.n > 0 {
		w.row()
		w.tail()
	}
	kept := w.n
	w.n = 0
	w.row()
	w.n = kept
	blocks := uint32(w.file.postings.length() - w.from)
	w.file.postings.write(w.impacts)
	w.file.postings.write(appendImpacts(w.buf[:0], w.all))
	w.file.postings.align(rowSize)
	for at := 12; at < len(w.table); at += rowSize { // impacts are counted from the beginning
		binary.LittleEndian.PutUint32(w.table[at:], binary.LittleEndian.Uint32(w.table[at:])+blocks)
	}
	w.file.postings.write(w.table)
}

// tail writes the docs of the block as a short list.
func (w *listWriter) tail() {
	b := w.buf[:0]
	before := w.before
	for i, doc := range w.docs[:w.n] {
		v := uint64(doc - before - 1)
		before = doc
		if w.with < Frequencies {
			b = binary.AppendUvarint(b, v)
		} else if f := w.freqs[i]; f == 1 {
			b = binary.AppendUvarint(b, v<<1|1)
		} else {
			b = binary.AppendUvarint(b, v<<1)
			b = binary.AppendUvarint(b, uint64(f-2))
		}
	}
	w.buf = b
	w.file.postings.write(b)
}
