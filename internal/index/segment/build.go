package segment

import (
	"bytes"
	"context"
	"math"
	"slices"
)

// Build is the file of all that was completed, and empties the builder. A builder with
// no docs gives a segment with none.
func (b *Builder) Build() ([]byte, error) {
	if b.wrote {
		b.Abandon() // what was not completed is not part of it
	}
	data, err := b.build()
	if err == nil && b.abandons > 0 {
		data, err = without(data, setOf(b.dropped, b.doc))
	}
	b.reset()
	return data, err
}

// without is a segment less the docs that were abandoned.
func without(data []byte, dropped *Bits) ([]byte, error) {
	s, err := Open(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = Merge(context.Background(), &out, []View{{Segment: s, Hidden: dropped}})
	return out.Bytes(), err
}

func (b *Builder) reset() {
	for _, f := range b.fields {
		f.reset()
	}
	b.arena.reset()
	b.doc, b.first, b.wrote, b.abandons, b.size, b.err = 0, 0, false, 0, 0, nil
	b.roots, b.dropped, b.keys, b.seqNos = b.roots[:0], b.dropped[:0], b.keys[:0], b.seqNos[:0]
}

func (b *Builder) build() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	var out bytes.Buffer
	out.Grow(b.Bytes() / 2)
	a := newAssembler(&out, b.doc)
	roots := setOf(b.roots, b.doc)
	a.roots(roots)
	keys := a.keys()
	for _, k := range b.keys {
		keys.add(k)
	}
	keys.close()
	a.seqNos(func(yield func(Doc, []int64)) {
		for doc := range b.seqNos {
			yield(Doc(doc), b.seqNos[doc:doc+1])
		}
	}, roots.Has)
	names := make([]string, 0, len(b.fields))
	for name, f := range b.fields {
		if f.seen != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		b.fields[name].build(a)
	}
	err := a.close()
	return out.Bytes(), err
}

// build writes a field.
func (f *FieldBuilder) build(a *assembler) {
	n := f.b.doc
	to := a.field(f.name, f.spec, setOf(f.existing, n))
	to.stats.Docs = f.termDocs
	var lengths []byte
	if f.spec.Lengths {
		lengths = append(f.lengths, make([]byte, int(n)-len(f.lengths))...)
		a.lengths(to, lengths)
	}
	order := f.terms.sorted()
	a.terms(to, lengths)
	var buf []byte
	for _, t := range order {
		if f.spec.Postings != NoPostings {
			buf = f.postings(&f.terms.states[t], &a.list, buf)
		}
		a.term(to, f.terms.term(t))
	}
	a.endTerms(to)
	switch f.spec.Column {
	case Ordinals:
		a.ordinals(to, f.ranks(order))
	case Numbers:
		a.numbers(to, f.values())
	}
	if f.spec.Points {
		w := &pointWriter{file: a.file}
		for _, p := range sortPoints(f.numbers, make([]point, len(f.numbers))) {
			w.add(p)
		}
		to.points = w.close()
	}
}

// postings puts those of a term into the list. Buf is memory to use, and is given back.
func (f *FieldBuilder) postings(s *termState, list *listWriter, buf []byte) []byte {
	buf = f.b.arena.appendTo(buf[:0], s.chain)
	places := f.spec.Postings >= Positions
	doc, often := Doc(math.MaxUint32), uint32(0)
	for i := 0; i < len(buf); {
		v := uint64(buf[i])
		if i++; v >= 0x80 {
			v, i = varint(buf, i-1)
		}
		if v&1 == 0 {
			often++
			if places {
				list.place(v >> 1)
			}
			continue
		}
		if often > 0 {
			list.add(doc, often)
		}
		doc, often = doc+Doc(v>>1), 1
		if places {
			v, i = varint(buf, i)
			list.place(v)
		}
	}
	list.add(doc, often)
	return buf
}

// ranks are the ordinals of docs, when order gives the numbers of the terms by rank.
func (f *FieldBuilder) ranks(order []uint32) numbers {
	rank := make([]int64, len(order))
	for r, t := range order {
		rank[t] = int64(r)
	}
	return func(yield func(Doc, []int64)) {
		var values []int64
		for i := 0; i < len(f.ordDocs); {
			doc := f.ordDocs[i]
			values = values[:0]
			for ; i < len(f.ordDocs) && f.ordDocs[i] == doc; i++ {
				values = append(values, rank[f.ordinals[i]])
			}
			slices.Sort(values)
			yield(doc, values)
		}
	}
}

// values are the numbers of docs.
func (f *FieldBuilder) values() numbers {
	return func(yield func(Doc, []int64)) {
		var values []int64
		for i := 0; i < len(f.numbers); {
			doc := f.numbers[i].doc
			values = values[:0]
			for ; i < len(f.numbers) && f.numbers[i].doc == doc; i++ {
				values = append(values, f.numbers[i].n)
			}
			slices.Sort(values)
			yield(doc, values)
		}
	}
}
