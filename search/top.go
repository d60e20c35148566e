package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
)

// visited is a view that a search looks into.
type visited struct {
	index, source, at int
	number            uint32 // of the index
	view              segment.View
}

// rated is a doc with its score.
type rated struct {
	score float32
	doc   segment.Doc
	key   routing.Key
	view  int // the number of its visit
}

// topScores keeps the docs with the best scores. Ties are broken by (index number, order
// key, id).
type topScores struct {
	size   int
	views  []*visited
	kept   []rated // a heap when there are size of them, the worst on top
	lowest float32 // what a doc must have at least
	worst  rated
	full   bool
}

func newTopScores(size int) *topScores { return &topScores{size: size, lowest: none} }

func (t *topScores) begin(_ int, v *visited) error {
	t.views = append(t.views, v)
	return nil
}

func (t *topScores) least() float32 { return t.lowest }

func (t *topScores) take(docs []segment.Doc, scores []float32) error {
	for i, score := range scores {
		if score < t.lowest {
			continue
		}
		at := len(t.views) - 1
		s := rated{score: score, doc: docs[i], key: t.views[at].view.Key(docs[i]), view: at}
		if !t.full {
			t.fill(s)
		} else if t.compare(&s, &t.worst) < 0 {
			t.kept[0] = s
			t.down(0)
			t.worst, t.lowest = t.kept[0], t.kept[0].score
		}
	}
	return nil
}

// fill takes one more while there are too few.
func (t *topScores) fill(s rated) {
	t.kept = append(t.kept, s)
	if len(t.kept) < t.size {
		return
	}
	for i := len(t.kept)/2 - 1; i >= 0; i-- {
		t.down(i)
	}
	t.full, t.worst, t.lowest = true, t.kept[0], t.kept[0].score
}

// compare is negative when a is better.
func (t *topScores) compare(a, b *rated) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	v, w := t.views[a.view], t.views[b.view]
	if v.number != w.number {
		return cmp.Compare(v.number, w.number)
	}
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return strings.Compare(v.view.ID(a.doc), w.view.ID(b.doc))
}

// down restores the heap below i.
func (t *topScores) down(i int) {
	h := t.kept
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if t.compare(&h[child], &h[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

func (t *topScores) hits() ([]Hit, error) {
	slices.SortFunc(t.kept, func(a, b rated) int { return t.compare(&a, &b) })
	var hits []Hit
	for _, s := range t.kept {
		h := t.views[s.view].hit(s.doc)
		h.Score = s.score
		hits = append(hits, h)
	}
	return hits, nil
}

// hit is a doc of the view.
func (v *visited) hit(doc segment.Doc) Hit {
	return Hit{
		Index: v.index, Source: v.source, View: v.at, Doc: doc,
		Key: v.view.Key(doc), ID: v.view.ID(doc),
	}
}
