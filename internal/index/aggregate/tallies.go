package aggregate

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// tallies count docs by the ordinals of each view, or by the numbers of a lexicon. When all views
// have been seen, the terms of all are joined in order: each is looked at once, none is kept in a
// map.
type tallies struct {
	on      bool
	views   []*viewTally
	lexica  []*lexiconTally
	now     *lexiconTally // of the current view; nil: the last of views
	terms   *segmentTerms // of the current view, with now
	missing int64         // docs without a value
}

// lexiconTally are the counts of all views whose terms a lexicon numbers.
type lexiconTally struct {
	of   *lexicon
	docs []int64 // by number

	// of run
	texts [][]byte
	order []uint32
	at    int
}

func (l *lexiconTally) run() *lexiconTally {
	l.order, l.texts = l.of.order()
	l.at = -1
	return l
}

func (l *lexiconTally) next() bool {
	for l.at++; l.at < len(l.order); l.at++ {
		if id := int(l.order[l.at]); id < len(l.docs) && l.docs[id] > 0 {
			return true
		}
	}
	return false
}

func (l *lexiconTally) head() ([]byte, int64) {
	id := l.order[l.at]
	return l.texts[id], l.docs[id]
}

// beginLexicon begins a view whose terms are in a lexicon.
func (t *tallies) beginLexicon(lex *lexicon, terms *segmentTerms) {
	at := slices.IndexFunc(t.lexica, func(l *lexiconTally) bool { return l.of == lex })
	if at < 0 {
		t.lexica, at = append(t.lexica, &lexiconTally{of: lex}), len(t.lexica)
	}
	t.now, t.terms = t.lexica[at], terms
	t.now.docs = grown(t.now.docs, max(len(t.now.docs), terms.end))
}

// viewTally are the counts of a view.
type viewTally struct {
	read  terms
	docs  paged
	found int  // ordinals that are counted
	whole bool // all docs are: the dictionary says how many each term has

	// of join
	walk *segment.Terms // through the dictionary; nil: terms are looked up one by one
	at   uint32
	n    uint32
	term []byte
}

// begin begins a view, whose terms are in a lexicon unless that is nil.
func (t *tallies) begin(r *terms, lex *lexicon, terms *segmentTerms) {
	t.now = nil
	if lex != nil {
		t.beginLexicon(lex, terms)
		return
	}
	v := &viewTally{read: *r}
	n := 0
	if r.column != nil {
		n = r.field.Terms()
	}
	v.docs.reset(n)
	t.views = append(t.views, v)
}

func (t *tallies) count(ords []uint32) {
	if t.now != nil {
		for _, ord := range ords {
			if ord == absentTerm {
				t.missing++
				continue
			}
			t.now.docs[t.terms.numbers[ord]]++
		}
		return
	}
	v := t.views[len(t.views)-1]
	for _, ord := range ords {
		if ord == absentTerm {
			t.missing++
			continue
		}
		n := v.docs.at(ord)
		if *n == 0 {
			v.found++
		}
		*n++
	}
}

// all counts all docs of the view, if that can be done without them.
func (t *tallies) all(r *terms) bool {
	if r.spelled() != nil || r.column == nil && r.field != nil {
		return false
	}
	docs := int64(0)
	if r.field != nil {
		if r.field.Spec().Postings == segment.NoPostings {
			return false
		}
		docs = r.field.Stats().Docs
		if t.now == nil {
			v := t.views[len(t.views)-1]
			v.whole, v.found = r.field.Terms() > 0, r.field.Terms()
		} else {
			for ord, n := range t.terms.docs {
				t.now.docs[t.terms.numbers[ord]] += int64(n)
			}
		}
	}
	if r.missing {
		t.missing += int64(r.view.Docs()) - docs
	}
	return true
}

// dense is how many ordinals there may be for each that is counted, so that walking
// through the dictionary is cheaper than looking terms up.
const dense = 8

// first goes to the first term that is counted.
func (v *viewTally) first() bool {
	if v.found == 0 {
		return false
	}
	if v.found*dense > v.read.field.Terms() {
		v.walk = v.read.field.From(nil)
	}
	return v.from(0)
}

// from goes to the first term from an ordinal on that is counted.
func (v *viewTally) from(ord uint32) (ok bool) {
	if v.whole {
		if ord > 0 {
			v.walk.Next()
		}
		if ok = v.walk.Valid(); ok {
			e := v.walk.Entry()
			v.at, v.n, v.term = e.Ord, e.Docs, append(v.term[:0], v.walk.Term()...)
		}
		return ok
	}
	if v.at, v.n, ok = v.docs.next(ord); !ok {
		return false
	}
	if v.walk == nil {
		v.term = v.read.field.Term(v.term[:0], v.at)
		return true
	}
	for v.walk.Entry().Ord < v.at {
		v.walk.Next()
	}
	v.term = append(v.term[:0], v.walk.Term()...)
	return true
}

// run gives terms that are counted, ascending, with their numbers of docs.
type run interface {
	// next goes to the next one, at first to the first, and reports whether there is one.
	next() bool
	// head is the current one.
	head() (term []byte, docs int64)
}

// viewRun are the terms of one view.
type viewRun struct {
	*viewTally
	begun bool
	own   []byte // term, without what those of its path begin with
}

func (v *viewRun) next() bool {
	for {
		ok := false
		if v.begun {
			ok = v.from(v.at + 1)
		} else {
			ok, v.begun = v.first(), true
		}
		if !ok {
			return false
		}
		if v.own, ok = v.read.own(v.term); ok {
			return true
		}
	}
}

func (v *viewRun) head() ([]byte, int64) { return v.own, int64(v.n) }

// joining is a heap of runs by their terms.
type joining []run

func (j joining) Len() int { return len(j) }
func (j joining) Less(a, b int) bool {
	first, _ := j[a].head()
	second, _ := j[b].head()
	return bytes.Compare(first, second) < 0
}
func (j joining) Swap(a, b int) { j[a], j[b] = j[b], j[a] }
func (j *joining) Push(any)     {}
func (j *joining) Pop() any {
	old := *j
	*j = old[:len(old)-1]
	return nil
}

// runs are those that have a term.
func (t *tallies) runs() (some joining) {
	for _, v := range t.views {
		if r := (&viewRun{viewTally: v}); r.next() {
			some = append(some, r)
		}
	}
	for _, l := range t.lexica {
		if r := l.run(); r.next() {
			some = append(some, r)
		}
	}
	heap.Init(&some)
	return some
}

// join gives each term a number and a bucket, in the order of terms.
func (t *tallies) join(k *textKeys) {
	runs := t.runs()
	t.views, t.lexica, t.now = nil, nil, nil
	var last []byte
	taken := false // last has a bucket
	for some := false; len(runs) > 0; some = true {
		term, docs := runs[0].head()
		if !some || !bytes.Equal(term, last) {
			last = append(last[:0], term...)
			if taken = k.choice.term(term); taken {
				k.w.buckets.push(0, uint64(len(k.texts)))
				k.texts = append(k.texts, k.arena.keep(term))
			}
		}
		if taken {
			k.w.count.add(uint32(len(k.texts)-1), docs)
		}
		if runs[0].next() {
			heap.Fix(&runs, 0)
		} else {
			heap.Pop(&runs)
		}
	}
	t.joinMissing(k)
}

// joinMissing counts what stands for missing values.
func (t *tallies) joinMissing(k *textKeys) {
	term := k.w.values.missingText
	if t.missing == 0 || !k.choice.term(term) {
		return
	}
	id, found := slices.BinarySearchFunc(k.texts, term, bytes.Compare)
	if !found {
		id = len(k.texts)
		k.w.buckets.push(0, uint64(id))
		k.texts = append(k.texts, term)
	}
	k.w.count.add(uint32(id), t.missing)
	t.missing = 0
}
