package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// window is how many docs are scored together; a multiple of 64.
const window = 2048

// windows scores a sum of nodes, of which any must be found, window by window: what is
// found adds its score to the doc's sum. When a score is demanded, the nodes that cannot
// give it together, by the bounds of their blocks in the window, are only looked up for
// docs that others find (MAXSCORE).
type windows struct {
	sink    *sink
	fixed   bool // all docs have the score value
	value   float32
	clauses []*clause
	filters []node // must be found too, and are asked doc by doc
	sets    []*segment.Bits
	terms   []*termNode // must be found too, and are read into bits
	not     []node      // must not be found
	notSets []*segment.Bits

	*scratch
	prefix []float64 // of the clauses' greatest scores
	few    int       // so many of clauses are only looked up
	enough float64   // a sum that is less does not reach what is demanded, however it is rounded
}

// clause is one of the nodes that are summed.
type clause struct {
	node
	term *termNode // node, when it is one
	last segment.Doc
	most float32 // of the block that ends at last
	in   float32 // in the window
	some bool    // last and most count
}

func newWindows(k *sink, p parts) *windows {
	w := &windows{sink: k, scratch: k.scratch, fixed: p.fixed, value: p.value, prefix: make([]float64, len(p.any)+1)}
	w.clauses = make([]*clause, len(p.any))
	clauses := make([]clause, len(p.any))
	for i, n := range p.any {
		term, _ := n.(*termNode)
		clauses[i] = clause{node: n, term: term}
		w.clauses[i] = &clauses[i]
	}
	w.filters, w.sets = sets(p.filters)
	w.not, w.notSets = sets(p.not)
	w.filters = slices.DeleteFunc(w.filters, func(n node) bool {
		term, ok := n.(*termNode)
		if ok {
			w.terms = append(w.terms, term)
		}
		return ok
	})
	return w
}

// sets parts nodes that are sets from others.
func sets(nodes []node) (others []node, sets []*segment.Bits) {
	for _, n := range nodes {
		if s, ok := n.(*setNode); ok {
			sets = append(sets, s.set)
		} else {
			others = append(others, n)
		}
	}
	return others, sets
}

// run tells all docs.
func (w *windows) run() error {
	from := w.following(0)
	for from != end {
		base := from &^ (window - 1)
		to := base + window
		if d := w.filtered(from); d >= to {
			from = w.following(d)
			continue
		}
		if err := w.window(base, from, to); err != nil || w.sink.stop || w.fixed && w.sink.demand > w.value {
			return err
		}
		from = w.following(to)
	}
	return nil
}

// following is the first doc from d on that may be found, as far as is known.
func (w *windows) following(d segment.Doc) segment.Doc {
	first := end
	if d >= w.sink.limit {
		return end // clauses that are only looked up stay where they were
	}
	for _, c := range w.clauses {
		first = min(first, max(c.doc(), d))
	}
	return first
}

// filtered is the first doc from d on that all filters may find.
func (w *windows) filtered(d segment.Doc) segment.Doc {
	for _, f := range w.filters {
		e := f.doc()
		if e < d {
			e = f.advance(d)
		}
		d = max(d, e)
	}
	for _, t := range w.terms {
		d = max(d, t.doc())
	}
	for _, s := range w.sets {
		d = max(d, s.Next(d))
	}
	return d
}

// window tells the docs from one up to another, which lie in one window.
func (w *windows) window(base, from, to segment.Doc) error {
	w.few, w.enough = 0, math.Inf(-1)
	if w.sink.skip && w.sink.demand > 0 && !w.fixed && !w.part(from, to) {
		return w.sink.ctx.Err()
	}
	for _, c := range w.clauses[w.few:] {
		if c.doc() < from {
			c.advance(from)
		}
		if c.term != nil {
			c.term.fill(base, to, &w.sums, &w.met)
			continue
		}
		for d := c.doc(); d < to; d = c.next() {
			if c.matches() {
				if !w.fixed {
					w.sums[d-base] += float64(c.score())
				}
				w.met[(d-base)>>6] |= 1 << (d & 63)
			}
		}
	}
	for _, t := range w.terms {
		t.mask(base, to, &w.met)
	}
	return w.sweep(base)
}

// part sorts the clauses by what they may give in a window, and finds how many of them
// cannot give together what is demanded; false when all cannot.
func (w *windows) part(from, to segment.Doc) bool {
	for _, c := range w.clauses {
		c.measure(from, to)
	}
	slices.SortFunc(w.clauses, func(a, b *clause) int { return cmp.Compare(a.in, b.in) })
	w.prefix = w.prefix[:1]
	for _, c := range w.clauses {
		w.prefix = append(w.prefix, w.prefix[len(w.prefix)-1]+float64(c.in))
	}
	w.enough = float64(w.sink.demand) * (1 - 1e-6)
	for w.few < len(w.clauses) && w.prefix[w.few+1] < w.enough {
		w.few++
	}
	return w.few < len(w.clauses)
}

// measure finds the greatest score of a clause in a window.
func (c *clause) measure(from, to segment.Doc) {
	c.in = 0
	d := max(from, c.doc())
	for d < to {
		if !c.some || c.last < d {
			c.last, c.most = c.bound(d)
			c.some = true
		}
		c.in = max(c.in, c.most)
		if c.last >= to-1 {
			return
		}
		d = c.last + 1
	}
}

// sweep tells what was met, and clears it.
func (w *windows) sweep(base segment.Doc) error {
	k := w.sink
	asked := w.few > 0 || len(w.filters)+len(w.not) > 0
	for i := range w.met {
		word := w.met[i]
		if word == 0 {
			continue
		}
		w.met[i] = 0
		at := int(base>>6) + i
		if k.accept != nil {
			word &= k.accept.Words()[at]
		}
		for _, s := range w.sets {
			word &= s.Words()[at]
		}
		for _, s := range w.notSets {
			word &^= s.Words()[at]
		}
		for ; word != 0; word &= word - 1 {
			slot := i<<6 + bits.TrailingZeros64(word)
			doc := base + segment.Doc(slot)
			sum := w.sums[slot]
			if asked && (sum+w.prefix[w.few] < w.enough || !w.passes(doc)) {
				continue
			}
			if w.few > 0 {
				if sum = w.rest(doc, sum); sum < w.enough {
					continue
				}
			}
			score := float32(sum)
			if w.fixed {
				score = w.value
			}
			if err := k.add(doc, score); err != nil {
				return err
			}
		}
	}
	if !w.fixed {
		clear(w.sums[:])
	}
	return k.flush()
}

// passes asks the filters that are no sets.
func (w *windows) passes(doc segment.Doc) bool {
	for _, f := range w.filters {
		if !has(f, doc) {
			return false
		}
	}
	for _, n := range w.not {
		if has(n, doc) {
			return false
		}
	}
	return true
}

// rest adds the scores of the clauses that are only looked up, as long as the sum may reach
// what is demanded.
func (w *windows) rest(doc segment.Doc, sum float64) float64 {
	for i := w.few - 1; i >= 0 && sum+w.prefix[i+1] >= w.enough; i-- {
		if c := w.clauses[i]; has(c.node, doc) {
			sum += float64(c.score())
		}
	}
	return sum
}

// fill adds the scores of the docs before to, which lie behind base in one window.
func (t *termNode) fill(base, to segment.Doc, sums *[window]float64, met *[window / 64]uint64) {
	if t.docs == nil && t.current < to { // behind it are the docs of its block
		t.give([]segment.Doc{t.current}, []uint32{t.frequency()}, base, sums, met)
		t.block()
	}
	for t.current < to {
		docs, freqs := t.docs[t.i:], t.frequencies()
		if docs[len(docs)-1] < to {
			t.give(docs, freqs, base, sums, met)
			t.block()
			continue
		}
		n, _ := slices.BinarySearch(docs, to)
		t.give(docs[:n], freqs, base, sums, met)
		t.i += n
		t.current = t.docs[t.i]
	}
}

// give adds the scores of some docs.
func (t *termNode) give(docs []segment.Doc, freqs []uint32, base segment.Doc, sums *[window]float64, met *[window / 64]uint64) {
	for _, doc := range docs {
		slot := (doc - base) & (window - 1)
		met[slot>>6] |= 1 << (slot & 63)
	}
	if t.scores == nil {
		return
	}
	f, length, weight := float32(1), byte(1), t.scores.weight
	for i, doc := range docs {
		if freqs != nil {
			f = float32(freqs[i])
		}
		if t.lengths != nil {
			length = t.lengths[doc]
		}
		sums[(doc-base)&(window-1)] += float64(weight - weight/(1+float32(f*t.scores.inverse[length])))
	}
}

// mask takes the docs of a window out that the term does not have.
func (t *termNode) mask(base, to segment.Doc, met *[window / 64]uint64) {
	var has [window / 64]uint64
	if t.current < base {
		t.advance(base)
	}
	if t.docs == nil && t.current < to {
		has[(t.current-base)>>6&(window/64-1)] |= 1 << (t.current & 63)
		t.block()
	}
	for t.current < to {
		docs := t.docs[t.i:]
		whole := docs[len(docs)-1] < to
		if !whole {
			n, _ := slices.BinarySearch(docs, to)
			docs = docs[:n]
		}
		for _, doc := range docs {
			slot := (doc - base) & (window - 1)
			has[slot>>6] |= 1 << (slot & 63)
		}
		if whole {
			t.block()
			continue
		}
		t.i += len(docs)
		t.current = t.docs[t.i]
	}
	for i := range met {
		met[i] &= has[i]
	}
}
