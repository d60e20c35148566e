package highlight

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/reshelve/reshelve/internal/index/search"
)

// Style is how fragments look.
type Style struct {
	Open, Close string // tags
	HTML        bool   // characters that mean something in HTML are encoded
	Size        int    // of a fragment, in units; 0: as long as its sentence
	Fragments   int    // at most; 0: whole values, all of them
	NoMatch     int    // so much of the first value when nothing was found; 0: nothing
	ByScore     bool   // the best first, else as they come in the text
	ByWord      bool   // fragments are words, not sentences
	Whole       bool   // fragments are whole values
}

// passage is a part of a value.
type passage struct {
	start, end int // units
	matches    []match
	score      float32
}

// Unified are the fragments that the unified highlighter makes; nil: none.
func Unified(t *Text, wanted []search.Wanted, s Style) []string {
	most := s.Fragments
	if most == 0 {
		most = math.MaxInt
	}
	list := t.passages(t.find(wanted), newCutter(t, s), most)
	if len(list) == 0 {
		list = t.beginning(s.NoMatch)
	}
	if s.ByScore {
		slices.SortStableFunc(list, func(a, b *passage) int { return cmp.Compare(b.score, a.score) })
	}
	var fragments []string
	for _, p := range list {
		if text := s.render(t, p); hasText(text) {
			fragments = append(fragments, text)
		}
	}
	return fragments
}

// passages are the best passages around matches, in the order of the text.
func (t *Text) passages(found []match, cut *cutter, most int) []*passage {
	best := &passages{}
	take := func(p *passage) {
		if p == nil {
			return
		}
		p.score = score(p, len(t.units))
		if best.Len() == most && p.score < (*best)[0].score {
			return
		}
		heap.Push(best, p)
		if best.Len() > most {
			heap.Pop(best)
		}
	}
	var current *passage
	end := 0
	for _, m := range found {
		if current == nil || m.start >= current.end {
			take(current)
			start, behind := cut.around(m.start)
			current = &passage{start: min(m.start, max(start, end))}
			end = max(end, min(behind, len(t.units)))
			current.end = end
		}
		current.matches = append(current.matches, m)
	}
	take(current)
	slices.SortFunc(*best, func(a, b *passage) int { return cmp.Compare(a.start, b.start) })
	return *best
}

// passages is a heap: the worst comes first, and of equals that which begins first.
type passages []*passage

func (p passages) Len() int      { return len(p) }
func (p passages) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p passages) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[i].score, p[j].score), cmp.Compare(p[i].start, p[j].start)) < 0
}
func (p *passages) Push(x any) { *p = append(*p, x.(*passage)) }
func (p *passages) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// The parameters of Lucene's PassageScorer.
const (
	pivot   = 87 // an average passage, in units
	scoreK1 = 1.2
	scoreB  = 0.75
)

// score is that of Lucene's PassageScorer: BM25 of the terms, as if passages were the
// documents of a collection as long as the content; more at its beginning.
func score(p *passage, length int) float32 {
	type counted struct{ here, all int }
	counts := map[string]*counted{}
	var order []*counted
	for _, m := range p.matches {
		c := counts[m.term]
		if c == nil {
			c = &counted{all: m.often}
			counts[m.term] = c
			order = append(order, c)
		}
		c.here++
	}
	var sum float32
	for _, c := range order {
		docs := 1 + float32(length)/pivot
		weight := float32(scoreK1+1) * float32(math.Log(1+(float64(docs)+0.5)/(float64(c.all)+0.5)))
		norm := float32(scoreK1) * (float32(1-scoreB) + float32(scoreB)*(float32(p.end-p.start)/pivot))
		sum += float32(c.here) / (float32(c.here) + norm) * weight
	}
	return sum * (1 + 1/float32(math.Log(float64(pivot+float32(p.start)))))
}

// beginning is the first value, or its first words where it is longer than a size.
func (t *Text) beginning(size int) []*passage {
	at := 0
	for at < len(t.units) && t.units[at] == separator {
		at++
	}
	if size <= 0 || at == len(t.units) {
		return nil
	}
	v := t.valueAt(at)
	p := &passage{start: at, end: v.to}
	if at+size < v.to {
		if end, ok := words.all(t.units[at:v.to]).after(size); ok {
			p.end = at + end
		}
	}
	return []*passage{p}
}
