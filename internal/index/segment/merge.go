package segment

import (
	"context"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Merge writes the segment of what the views show, in their order, and of their docs.
// A field that has different Specs gets what all have. It reads each input from front to
// back, and keeps in memory what grows with the terms of one field and with four bytes a
// doc. The error is ctx's cause when that ends, *Damaged when an input is.
func Merge(ctx context.Context, to io.Writer, views []View) error {
	return Guard(func() error {
		m := &merger{ctx: ctx, views: views, moves: movesOf(views)}
		total := uint64(0)
		for _, moves := range m.moves {
			if total += uint64(moves.shown); total > maxDocs {
				return fault.New(fault.Limit, "a segment has at most %d docs", maxDocs)
			}
		}
		m.assembler = newAssembler(to, uint32(total))
		return m.merge()
	})
}

// movesOf are the moves of all views.
func movesOf(views []View) []*moves {
	all, base := make([]*moves, len(views)), Doc(0)
	for i, v := range views {
		all[i] = newMoves(v, base)
		base += all[i].shown
	}
	return all
}

// moves are the new docs of one input.
type moves struct {
	base   Doc
	docs   Doc // of the input
	shown  Doc // of them
	hidden *Bits
	before []Doc // how many are shown before each word of hidden: half a bit for each doc
}

func newMoves(v View, base Doc) *moves {
	m := &moves{base: base, docs: Doc(v.Docs()), shown: Doc(v.Docs())}
	if v.Hidden == nil || v.Hidden.Next(0) == End {
		return m
	}
	m.hidden = v.Hidden
	m.before = make([]Doc, len(m.hidden.words))
	shown := Doc(0)
	for i, w := range m.hidden.words {
		m.before[i] = shown
		shown += Doc(min(64, int(m.docs)-64*i) - bits.OnesCount64(w))
	}
	m.shown = shown
	return m
}

// to is the new doc of a doc that is shown.
func (m *moves) to(doc Doc) Doc {
	if m.hidden == nil {
		return m.base + doc
	}
	w := ^m.hidden.words[doc>>6] & (1<<(doc&63) - 1)
	return m.base + m.before[doc>>6] + Doc(bits.OnesCount64(w))
}

func (m *moves) hides(doc Doc) bool { return m.hidden != nil && m.hidden.Has(doc) }

// each yields the docs that are shown, and what they become.
func (m *moves) each(yield func(from, to Doc)) {
	to := m.base
	for doc := range m.docs {
		if !m.hides(doc) {
			yield(doc, to)
			to++
		}
	}
}

// merger merges views into one segment.
type merger struct {
	*assembler
	ctx   context.Context
	views []View
	moves []*moves
	work  int // since ctx was asked
}

// canceled is the panic by which a merge ends when its context does.
type canceled struct{ err error }

// tick asks the context now and then.
func (m *merger) tick(n int) {
	if m.work += n; m.work > 1<<14 {
		m.work = 0
		if m.ctx.Err() != nil {
			panic(canceled{context.Cause(m.ctx)})
		}
	}
}

func (m *merger) merge() (err error) {
	defer func() {
		if p := recover(); p != nil {
			stopped, ok := p.(canceled)
			if !ok {
				panic(p)
			}
			err = stopped.err
		}
	}()
	m.tick(1 << 15)
	m.documents()
	for _, name := range m.names() {
		m.tick(1 << 15)
		m.field(name)
		if m.file.err != nil {
			return m.file.err
		}
	}
	return m.close()
}

// documents writes which docs are documents, and what they are known by.
func (m *merger) documents() {
	roots := NewBits(int(m.t.docs))
	for i, v := range m.views {
		set := v.rootSet.bits()
		m.moves[i].each(func(from, to Doc) {
			if set == nil || set.Has(from) {
				roots.Set(to)
			}
		})
	}
	m.roots(roots)
	keys := m.keys()
	for i, v := range m.views {
		all := v.src.bytes(v.keys, 8*uint64(v.docs))
		m.moves[i].each(func(from, _ Doc) { keys.add(binary.LittleEndian.Uint64(all[8*from:])) })
	}
	keys.close()
	m.seqNos(func(yield func(Doc, []int64)) {
		for i, v := range m.views {
			m.values(i, &column{docs: &docSet{kind: setAll, count: v.docs, docs: v.docs}, values: v.seqNos}, yield)
		}
	}, roots.Has)
}

// names are those of all fields.
func (m *merger) names() []string {
	var names []string
	for _, v := range m.views {
		for f := range v.Fields() {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// meet is what two specs have in common.
func meet(a, b Spec) Spec {
	s := Spec{Postings: min(a.Postings, b.Postings), Lengths: a.Lengths && b.Lengths, Points: a.Points && b.Points}
	if a.Column == b.Column {
		s.Column = a.Column
	}
	return s
}

// input is what one of the views has of the field that is merged.
type input struct {
	*Field
	view  int
	moves *moves
	ords  []uint32 // the new ordinals, when there is a column of them
	live  *Bits    // docs that are shown and have a term, when some are hidden
	used  *Bits    // terms of docs that are shown, when some are hidden and there are no postings
}

// field merges the field of a name.
func (m *merger) field(name string) {
	var inputs []*input
	var spec Spec
	for i, v := range m.views {
		f := v.Field(name)
		if f == nil || m.moves[i].shown == 0 {
			continue
		}
		if spec = meet(spec, f.spec); len(inputs) == 0 {
			spec = f.spec
		}
		inputs = append(inputs, &input{Field: f, view: i, moves: m.moves[i]})
	}
	existing := NewBits(int(m.t.docs))
	for _, in := range inputs {
		set := in.Existing()
		in.moves.each(func(from, to Doc) {
			if set == nil || set.Has(from) {
				existing.Set(to)
			}
		})
	}
	if existing.Next(0) == End {
		return
	}
	to := m.assembler.field(name, spec, existing)
	var lengths []byte
	if spec.Lengths {
		lengths = m.mergeLengths(inputs)
		m.lengths(to, lengths)
	}
	m.mergeTerms(to, inputs, lengths)
	switch spec.Column {
	case Numbers:
		m.numbers(to, func(yield func(Doc, []int64)) {
			for _, in := range inputs {
				m.values(in.view, &in.numbers.column, yield)
			}
		})
	case Ordinals:
		m.ordinals(to, m.mergeOrdinals(inputs))
	}
	if spec.Points {
		to.points = m.mergePoints(inputs)
	}
}

func (m *merger) mergeLengths(inputs []*input) []byte {
	lengths := make([]byte, m.t.docs)
	for _, in := range inputs {
		from := in.Lengths()
		if in.moves.hidden == nil {
			copy(lengths[in.moves.base:], from)
			continue
		}
		in.moves.each(func(doc, to Doc) { lengths[to] = from[doc] })
	}
	return lengths
}

// values yields the values of a column of an input, with what the docs become.
func (m *merger) values(view int, c *column, yield func(Doc, []int64)) {
	moves := m.moves[view]
	c.each(func(doc Doc, values []int64) {
		m.tick(1)
		if !moves.hides(doc) {
			yield(moves.to(doc), values)
		}
	})
}

// mergeOrdinals are the ordinals of all inputs. They stay in order.
func (m *merger) mergeOrdinals(inputs []*input) numbers {
	return func(yield func(Doc, []int64)) {
		var renamed []int64
		for _, in := range inputs {
			m.values(in.view, &in.ordinals.column, func(doc Doc, values []int64) {
				renamed = renamed[:0]
				for _, v := range values {
					if uint64(v) >= uint64(len(in.ords)) {
						panic(damaged("ordinal %d of %d", v, len(in.ords)))
					}
					renamed = append(renamed, int64(in.ords[v]))
				}
				yield(doc, renamed)
			})
		}
	}
}
