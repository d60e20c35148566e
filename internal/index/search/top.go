package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

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
	full   bool
	keys   []uint64 // of the docs of the current view
	lowest float32  // the score that a doc must have at least
	latest uint64   // the key that one with that score must have at most
	common *floor   // of all that keep docs of this search
}

// floor is the greatest score of which it is known that as many docs as are wanted have it, or a
// better one. It is safe for concurrent use.
type floor struct{ bits atomic.Uint32 }

func newFloor() *floor {
	f := &floor{}
	f.bits.Store(math.Float32bits(none))
	return f
}

func (f *floor) get() float32 { return math.Float32frombits(f.bits.Load()) }

func (f *floor) raise(score float32) {
	for {
		bits := f.bits.Load()
		if score <= math.Float32frombits(bits) || f.bits.CompareAndSwap(bits, math.Float32bits(score)) {
			return
		}
	}
}

func newTopScores(size int) *topScores {
	return &topScores{size: size, lowest: none, common: newFloor()}
}

func (t *topScores) fork() ranking {
	return &topScores{size: t.size, lowest: none, common: t.common}
}

func (t *topScores) join(other ranking) {
	o := other.(*topScores)
	for _, s := range o.kept {
		s.view += len(t.views)
		t.kept = append(t.kept, s)
	}
	t.views = append(t.views, o.views...)
}

func (t *topScores) begin(_ int, v *visited) error {
	t.views = append(t.views, v)
	t.keys = v.view.Keys()
	if t.full {
		t.bound()
	}
	return nil
}

func (t *topScores) least() float32 { return max(t.lowest, t.common.get()) }

func (t *topScores) take(docs []segment.Doc, scores []float32) error {
	at := len(t.views) - 1
	for i, score := range scores {
		if score < t.lowest {
			continue
		}
		doc := docs[i]
		if key := t.keys[doc]; !t.full || score > t.lowest || key <= t.latest {
			t.offer(rated{score: score, doc: doc, key: routing.Key(key), view: at})
		}
	}
	return nil
}

// offer takes a doc if it is good enough.
func (t *topScores) offer(s rated) {
	switch {
	case !t.full:
		t.fill(s)
		return
	case t.compare(&s, &t.kept[0]) >= 0:
		return
	}
	t.kept[0] = s
	t.down(0)
	t.bound()
}

// bound says what a doc must have to be good enough.
func (t *topScores) bound() {
	worst := &t.kept[0]
	t.lowest, t.latest = worst.score, math.MaxUint64
	t.common.raise(t.lowest)
	if t.views[worst.view].number == t.views[len(t.views)-1].number {
		t.latest = uint64(worst.key)
	}
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
	t.full = true
	t.bound()
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
	return cmp.Or(strings.Compare(v.view.ID(a.doc), w.view.ID(b.doc)), cmp.Compare(a.doc, b.doc))
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
	for _, s := range t.kept[:min(t.size, len(t.kept))] {
		h := t.views[s.view].hit(s.doc)
		h.Score = s.score
		hits = append(hits, h)
	}
	return hits, nil
}
