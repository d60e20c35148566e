package search

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// Wanted is what a query looks for in the texts of one field: what a highlighter marks.
type Wanted struct {
	Field   string   // its name in segments
	Terms   [][]byte // wherever they are; sorted, each once
	Forms   []Form   // of terms
	Phrases []Phrase // terms where they are near each other
}

// Form is what terms may look like. It must not be used by several at the same time.
type Form func(term []byte) bool

// Phrase is words at their places.
type Phrase struct {
	Words []Word // in the order of their positions
	Slop  int    // by how much they may be moved
}

// Word is a place of a phrase: any of the terms is there.
type Word struct {
	Position int
	Terms    [][]byte // sorted
}

// Looks tells what a query looks for in the fields of an index, by name. What must not be
// found is left out, so are numbers and dates, and filters of functions. The error is that
// of Run.
func Looks(index *Index, q Query) (list []Wanted, err error) {
	err = segment.Guard(func() error {
		c := &compiler{index: index, looks: true, bare: true, views: index.views()}
		p, err := c.compile(q)
		if err != nil {
			return err
		}
		l := looking{by: map[string]*Wanted{}}
		l.plan(p)
		for _, name := range slices.Sorted(maps.Keys(l.by)) {
			w := l.by[name]
			w.Terms = sortedTerms(w.Terms)
			list = append(list, *w)
		}
		return nil
	})
	return list, err
}

// looking gathers what plans look for.
type looking struct{ by map[string]*Wanted }

func (l *looking) in(field string) *Wanted {
	w := l.by[field]
	if w == nil {
		w = &Wanted{Field: field}
		l.by[field] = w
	}
	return w
}

func (l *looking) plan(p plan) {
	switch p := p.(type) {
	case *boolPlan:
		l.plans(p.must)
		l.plans(p.filter)
		l.plans(p.should)
	case *maxPlan:
		l.plans(p.of)
	case *constantPlan:
		l.plan(p.of)
	case *boostingPlan:
		l.plan(p.positive)
	case *nestedPlan:
		l.plan(p.of)
	case *functionPlan:
		l.plan(p.of)
	case *namedPlan:
		l.plan(p.of)
	default:
		l.leaf(p)
	}
}

func (l *looking) plans(list []plan) {
	for _, p := range list {
		l.plan(p)
	}
}

func (l *looking) leaf(p plan) {
	switch p := p.(type) {
	case *termPlan:
		l.terms(p.field, p.term)
	case *synonymsPlan:
		l.terms(p.field, p.terms...)
	case *termsPlan:
		l.terms(p.field, p.terms...)
	case *wordsPlan:
		w := l.in(p.field)
		w.Forms = append(w.Forms, func(term []byte) bool { return accepted(p.accept, term) })
	case *matchPlan:
		l.match(p.field, p.match)
	case *phrasePlan:
		l.phrase(p.field, p.words, p.slop)
	case *phrasesPlan:
		for _, words := range p.ways {
			l.phrase(p.field, words, p.slop)
		}
	}
}

func (l *looking) terms(field string, terms ...[]byte) {
	w := l.in(field)
	w.Terms = append(w.Terms, terms...)
}

// match is a term, or a range of them.
func (l *looking) match(f *fields.Field, m fields.Match) {
	if !m.Terms || f.Kind() != fields.Keyword && f.Kind() != fields.Text {
		return
	}
	if term, ok := single(m); ok {
		l.terms(f.Name(), term)
		return
	}
	w := l.in(f.Name())
	w.Forms = append(w.Forms, func(term []byte) bool {
		return bytes.Compare(term, m.LeastTerm) >= 0 && (m.GreatestTerm == nil || bytes.Compare(term, m.GreatestTerm) <= 0) &&
			(m.Where == nil || m.Where(term))
	})
}

// phrase is one of several words; of one it is that word.
func (l *looking) phrase(field string, words []word, slop int) {
	if len(words) == 1 {
		l.terms(field, words[0].terms...)
		return
	}
	p := Phrase{Slop: slop}
	for _, w := range words {
		p.Words = append(p.Words, Word{w.position, sortedTerms(slices.Clone(w.terms))})
	}
	slices.SortStableFunc(p.Words, func(a, b Word) int { return cmp.Compare(a.Position, b.Position) })
	w := l.in(field)
	w.Phrases = append(w.Phrases, p)
}

// accepted reports whether an automaton accepts a term.
func accepted(a *automaton.Words, term []byte) bool {
	state := a.Start()
	for _, b := range term {
		if state = a.Step(state, b); state < 0 {
			return false
		}
	}
	return a.Accepts(state)
}
