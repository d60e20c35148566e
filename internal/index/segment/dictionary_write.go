package segment

import "encoding/binary"

// dictionaryWriter writes the terms of one field, in order.
type dictionaryWriter struct {
	file *file
	with Postings

	n        uint32 // terms
	terms    []byte // of the block
	entries  []byte
	at       uint64 // where the postings of the block begin
	where    uint64 // and its positions
	previous []byte
	blocks   []byte // of the index: where blocks begin
	starts   []byte // where separators begin
	seps     []byte
}

// entryData is what the entry of a term says.
type entryData struct {
	docs        uint32
	doc         Doc // when docs is 1
	frequencies uint64
	at, size    uint64 // of the postings
	where       uint64 // of the positions
	extent      uint64 // of the positions, in bytes
}

// reset makes it ready for a field.
func (w *dictionaryWriter) reset(f *file, with Postings) {
	*w = dictionaryWriter{
		file: f, with: with, terms: w.terms[:0], entries: w.entries[:0], previous: w.previous[:0],
		blocks: w.blocks[:0], starts: w.starts[:0], seps: w.seps[:0],
	}
}

// add puts a term, which is greater than the one before.
func (w *dictionaryWriter) add(term []byte, e entryData) {
	shared := commonPrefix(term, w.previous)
	if w.n&(termBlock-1) == 0 {
		if w.n > 0 {
			w.flush()
		}
		w.at, w.where = e.at, e.where
		w.blocks = binary.LittleEndian.AppendUint64(w.blocks, w.file.terms.length())
		w.starts = binary.LittleEndian.AppendUint32(w.starts, uint32(len(w.seps)))
		if w.n > 0 {
			w.seps = append(w.seps, term[:shared+1]...)
		}
		shared = 0
	}
	w.terms = binary.AppendUvarint(w.terms, uint64(shared))
	w.terms = binary.AppendUvarint(w.terms, uint64(len(term)-shared))
	w.terms = append(w.terms, term[shared:]...)
	w.previous = append(w.previous[:0], term...)
	w.n++
	if w.with == NoPostings {
		return
	}
	b := binary.AppendUvarint(w.entries, uint64(e.docs-1))
	if e.docs == 1 {
		b = binary.AppendUvarint(b, uint64(e.doc))
	} else {
		b = binary.AppendUvarint(b, e.size)
	}
	if w.with >= Frequencies {
		b = binary.AppendUvarint(b, e.frequencies-uint64(e.docs))
	}
	if w.with >= Positions {
		b = binary.AppendUvarint(b, e.extent)
	}
	w.entries = b
}

func (w *dictionaryWriter) flush() {
	var head [3 * binary.MaxVarintLen64]byte
	b := binary.AppendUvarint(head[:0], w.at)
	b = binary.AppendUvarint(b, w.where)
	b = binary.AppendUvarint(b, uint64(len(w.terms)))
	w.file.terms.write(b)
	w.file.terms.write(w.terms)
	w.file.terms.write(w.entries)
	w.terms, w.entries = w.terms[:0], w.entries[:0]
}

// close writes what is left, and the index.
func (w *dictionaryWriter) close() *dictionary {
	d := &dictionary{terms: w.n}
	if w.n == 0 {
		return d
	}
	w.flush()
	w.blocks = binary.LittleEndian.AppendUint64(w.blocks, w.file.terms.length())
	w.starts = binary.LittleEndian.AppendUint32(w.starts, uint32(len(w.seps)))
	d.index = w.file.at
	d.indexSize = uint64(len(w.blocks) + len(w.starts) + len(w.seps))
	w.file.write(w.blocks)
	w.file.write(w.starts)
	w.file.write(w.seps)
	return d
}
