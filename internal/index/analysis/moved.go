package analysis

import (
	"sort"
	"unicode/utf8"
)

// moved tells where the places of a rewritten text were: from place at on, a place is by
// delta further than in the rewritten text. Places are UTF-16 units, as in Lucene's
// BaseCharFilter, which keeps the same table: where a replacement is longer, its end
// lies at places that only exist in units.
type moved struct {
	steps []step
	inner *moved // the rewriting before this one
}

type step struct{ at, delta int }

// add notes that from place at on of the rewritten text, places are delta further in
// the original. Places never fall; a second delta for the last place replaces it.
func (m *moved) add(at, delta int) {
	if n := len(m.steps); n > 0 && m.steps[n-1].at == at {
		m.steps[n-1].delta = delta
		return
	}
	m.steps = append(m.steps, step{at, delta})
}

// last is the delta at the end of what was added.
func (m *moved) last() int {
	if len(m.steps) == 0 {
		return 0
	}
	return m.steps[len(m.steps)-1].delta
}

// origin is the place in the original text.
func (m *moved) origin(at int) int {
	for ; m != nil; m = m.inner {
		if i := sort.Search(len(m.steps), func(i int) bool { return m.steps[i].at > at }); i > 0 {
			at += m.steps[i-1].delta
		}
	}
	return at
}

// rewriter writes a text anew, and notes what moves.
type rewriter struct {
	out   []byte
	units int // of out
	moved *moved
}

// copy takes over text.
func (w *rewriter) copy(text []byte) {
	w.out = append(w.out, text...)
	w.units += units(text)
}

// replace puts other text in the place of text.
func (w *rewriter) replace(text, other []byte) {
	was, is := units(text), units(other)
	delta := w.moved.last()
	if is < was {
		w.moved.add(w.units+is, delta+was-is)
	}
	for i := was; i < is; i++ {
		delta--
		w.moved.add(w.units+i, delta)
	}
	w.out = append(w.out, other...)
	w.units += is
}

// unitsAt are the places of a text's bytes in UTF-16 units, and that of its end.
func unitsAt(text []byte) []int32 {
	places := make([]int32, len(text)+1)
	n := int32(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		for j := range size {
			places[i+j] = n
		}
		n += int32(utf16Units(r))
		i += size
	}
	places[len(text)] = n
	return places
}

// restore turns places in the text after char filters into places in the original one.
func (s *stream) restore() {
	original := s.original
	if s.moved == nil || len(s.text) == len(original) && (len(original) == 0 || &s.text[0] == &original[0]) {
		return
	}
	from, to := unitsAt(s.text), unitsAt(original)
	place := func(at int) int {
		unit := s.moved.origin(int(from[at]))
		return max(0, min(len(original), sort.Search(len(to), func(i int) bool { return int(to[i]) >= unit })))
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		t.Start, t.End = place(t.Start), place(t.End)
	}
	s.end = place(s.end)
}
