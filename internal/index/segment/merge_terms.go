package segment

import (
	"bytes"
	"encoding/binary"
)

// mergeTerms merges the dictionaries and postings of the inputs.
func (m *merger) mergeTerms(to *Field, inputs []*input, lengths []byte) {
	with := to.spec.Postings
	if with == NoPostings && to.spec.Column != Ordinals {
		return
	}
	m.terms(to, lengths)
	var queue termQueue
	for i, in := range inputs {
		m.prepare(to, in)
		if t := in.From(nil); t.Valid() {
			queue.push(queued{terms: t, input: i})
		}
	}
	var copier postingsCopier
	var term []byte
	for len(queue) > 0 {
		term = append(term[:0], queue[0].terms.Term()...)
		used := with != NoPostings // then a term without docs is left out by itself
		for len(queue) > 0 && queue[0].is(term) {
			in, e := inputs[queue[0].input], queue[0].terms.Entry()
			m.tick(1)
			if in.ords != nil {
				in.ords[e.Ord] = m.dict.n
			}
			if with != NoPostings {
				copier.copy(m, with, in, e)
			} else {
				used = used || in.used == nil || in.used.Has(e.Ord)
			}
			queue.next()
		}
		if used {
			m.term(to, term)
		}
	}
	m.endTerms(to)
	for _, in := range inputs {
		if in.live != nil {
			to.stats.Docs += int64(in.live.Count())
		}
	}
}

// prepare makes an input ready for the merge of its terms.
func (m *merger) prepare(to *Field, in *input) {
	if to.spec.Column == Ordinals {
		in.ords = make([]uint32, in.Terms())
	}
	switch {
	case in.moves.hidden == nil:
		to.stats.Docs += in.stats.Docs
	case to.spec.Postings != NoPostings:
		in.live = NewBits(int(in.moves.docs))
	default:
		in.used = NewBits(in.Terms())
		m.values(in.view, &in.ordinals.column, func(_ Doc, ords []int64) {
			to.stats.Docs++
			for _, ord := range ords {
				if uint64(ord) >= uint64(in.Terms()) {
					panic(damaged("ordinal %d of %d", ord, in.Terms()))
				}
				in.used.Set(Doc(ord))
			}
		})
	}
}

// postingsCopier copies the postings of a term of one input.
type postingsCopier struct {
	p      *PostingsIterator
	places positions
	buf    []byte
}

func (c *postingsCopier) copy(m *merger, with Postings, in *input, e Entry) {
	c.p = in.Postings(e, min(with, Frequencies), c.p)
	c.places = positions{stream: in.positions, at: e.where, end: e.where + e.extent}
	for docs, often := c.p.Block(); len(docs) > 0; docs, often = c.p.Block() {
		m.tick(len(docs))
		if in.moves.hidden == nil {
			c.whole(m, with, docs, often, in.moves.base)
			continue
		}
		for i, doc := range docs {
			n := uint32(1)
			if often != nil {
				n = often[i]
			}
			if in.moves.hides(doc) {
				if with >= Positions {
					c.places.skip(uint64(n))
				}
				continue
			}
			in.live.Set(doc)
			if with >= Positions {
				c.buf = c.places.copy(c.buf[:0], uint64(n))
				m.list.copyPlaces(c.buf)
			}
			m.list.add(in.moves.to(doc), n)
		}
	}
}

// whole copies a block of which all docs are shown.
func (c *postingsCopier) whole(m *merger, with Postings, docs []Doc, often []uint32, base Doc) {
	if with >= Positions {
		n := uint64(0)
		for _, f := range often {
			n += uint64(f)
		}
		c.buf = c.places.copy(c.buf[:0], n)
		m.list.copyPlaces(c.buf)
	}
	if often == nil {
		for _, doc := range docs {
			m.list.add(base+doc, 1)
		}
		return
	}
	for i, doc := range docs {
		m.list.add(base+doc, often[i])
	}
}

// queued is an input whose next term waits to be merged.
type queued struct {
	terms *Terms
	head  uint64 // the first bytes of the term
	input int
}

func (q *queued) is(term []byte) bool { return bytes.Equal(q.terms.Term(), term) }

func (q *queued) before(o *queued) bool {
	if q.head != o.head {
		return q.head < o.head
	}
	if c := bytes.Compare(q.terms.Term(), o.terms.Term()); c != 0 {
		return c < 0
	}
	return q.input < o.input
}

// read takes the beginning of the current term.
func (q *queued) read() {
	var head [8]byte
	copy(head[:], q.terms.Term())
	q.head = binary.BigEndian.Uint64(head[:])
}

// termQueue is a heap: the least term comes first, of the first input that has it.
type termQueue []queued

func (h *termQueue) push(q queued) {
	q.read()
	*h = append(*h, q)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].before(&s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

// next steps the input that comes first.
func (h *termQueue) next() {
	s := *h
	if s[0].terms.Next(); s[0].terms.Valid() {
		s[0].read()
	} else {
		s[0] = s[len(s)-1]
		s = s[:len(s)-1]
		*h = s
	}
	for i := 0; ; {
		least := i
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < len(s) && s[k].before(&s[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}
