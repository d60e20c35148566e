package segment

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// assembler writes the parts of a segment in the order of the file: for Build and for
// Merge alike, so that both give the same bytes for the same documents.
type assembler struct {
	file *file
	sets setWriter
	t    contents

	dict dictionaryWriter
	list listWriter
}

func newAssembler(to io.Writer, docs uint32) *assembler {
	f := newFile(to)
	return &assembler{file: f, sets: setWriter{file: f, written: map[[sha256.Size]byte]uint64{}}, t: contents{docs: docs}}
}

// roots writes which docs are documents; nil: all are.
func (a *assembler) roots(set *Bits) {
	a.t.rootSet = a.sets.write(set, a.t.docs)
	a.t.roots = a.t.rootSet.count
}

// keyWriter writes the order keys.
type keyWriter struct {
	file *file
	buf  [1024]byte
	n    int
}

func (a *assembler) keys() *keyWriter {
	a.t.keys = a.file.align(8) // so that they are words in memory too
	return &keyWriter{file: a.file}
}

func (w *keyWriter) add(key uint64) {
	binary.LittleEndian.PutUint64(w.buf[w.n:], key)
	if w.n += 8; w.n == len(w.buf) {
		w.close()
	}
}

func (w *keyWriter) close() {
	w.file.write(w.buf[:w.n])
	w.n = 0
}

// numbers are those of the docs that have some, ascending, as often as it is called.
type numbers func(yield func(doc Doc, values []int64))

// seqNos writes the sequence numbers, one of each doc.
func (a *assembler) seqNos(each numbers, isRoot func(Doc) bool) {
	var s scaler
	ascending, any, before := true, false, int64(0)
	each(func(doc Doc, values []int64) {
		s.add(values[0])
		if isRoot(doc) {
			ascending = ascending && (!any || before < values[0])
			any, before = true, values[0]
		}
	})
	w := newArrayWriter(a.file, s.get())
	each(func(_ Doc, values []int64) { w.add(values[0]) })
	a.t.seqNos = w.close()
	a.t.ascending = ascending
}

// field begins a field with the docs that have it; nil: all of them.
func (a *assembler) field(name string, spec Spec, existing *Bits) *Field {
	f := &Field{name: name, spec: spec, docs: a.t.docs, dict: &dictionary{}}
	f.existing = a.sets.write(existing, a.t.docs)
	a.t.fields = append(a.t.fields, f)
	return f
}

// lengths writes the lengths of all docs.
func (a *assembler) lengths(f *Field, lengths []byte) {
	set := NewBits(int(a.t.docs))
	for doc, l := range lengths {
		if l != 0 {
			set.words[doc>>6] |= 1 << (doc & 63)
		}
	}
	f.lengthSet = a.sets.write(set, a.t.docs)
	f.lengthsAt = a.file.at
	if f.lengthSet.kind == setAll {
		a.file.write(lengths)
		return
	}
	for doc := set.Next(0); doc != End; doc = set.Next(doc + 1) {
		a.file.write(lengths[doc : doc+1])
	}
}

// terms makes the writers of terms and postings ready for a field.
func (a *assembler) terms(f *Field, lengths []byte) {
	a.dict.reset(a.file, f.spec.Postings)
	a.list.reset(a.file, f.spec.Postings, lengths)
}

// term writes a term, whose postings were given to list; in a field with postings none
// that has no docs.
func (a *assembler) term(f *Field, term []byte) {
	if f.spec.Postings == NoPostings {
		a.dict.add(term, entryData{at: a.file.postings.length(), where: a.file.positions.length()})
		return
	}
	e := a.list.end()
	if e.docs == 0 {
		return
	}
	a.dict.add(term, e)
	f.stats.Postings += int64(e.docs)
	f.stats.Frequencies += int64(e.frequencies)
}

// endTerms completes the terms of a field.
func (a *assembler) endTerms(f *Field) { f.dict = a.dict.close() }

// column writes a column.
func (a *assembler) column(each numbers) (c column, least, greatest int64) {
	set := NewBits(int(a.t.docs))
	var values, starts scaler
	n := int64(0)
	each(func(doc Doc, v []int64) {
		set.Set(doc)
		starts.add(n)
		if n == 0 {
			least, greatest = v[0], v[0]
		}
		n += int64(len(v))
		c.several = c.several || len(v) > 1
		least, greatest = min(least, v[0]), max(greatest, v[len(v)-1])
		for _, v := range v {
			values.add(v)
		}
	})
	starts.add(n)
	c.docs = a.sets.write(set, a.t.docs)
	if c.several {
		w := newArrayWriter(a.file, starts.get())
		at := int64(0)
		each(func(_ Doc, v []int64) {
			w.add(at)
			at += int64(len(v))
		})
		w.add(at)
		c.starts = w.close()
	}
	w := newArrayWriter(a.file, values.get())
	each(func(_ Doc, v []int64) {
		for _, v := range v {
			w.add(v)
		}
	})
	c.values = w.close()
	return c, least, greatest
}

func (a *assembler) numbers(f *Field, each numbers) {
	f.numbers = &NumberColumn{}
	f.numbers.column, f.numbers.least, f.numbers.greatest = a.column(each)
}

func (a *assembler) ordinals(f *Field, each numbers) {
	f.ordinals = &OrdinalColumn{}
	f.ordinals.column, _, _ = a.column(each)
}

// close writes the table of contents.
func (a *assembler) close() error { return a.file.close(&a.t) }
