package search

import (
	"math"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// anyNode is the docs that at least some of its nodes find. Its score is the sum of theirs,
// or with best the greatest of theirs and tie times the others'.
type anyNode struct {
	heap []standing // the first doc on top
	need int
	sure bool // all are exact
	best bool
	tie  float32
	sum  int // cost
	demanded

	rest    []aside // nodes that cannot reach together what is demanded: they are asked for docs of others
	current segment.Doc
	found   []node // those that match the current doc
	tried   bool   // found counts
}

// standing is a node with its current doc.
type standing struct {
	at segment.Doc
	node
	most  float32 // the ceiling of the node
	known bool    // most counts
}

func (s *standing) high() float32 {
	if !s.known {
		s.most, s.known = s.ceiling(), true
	}
	return s.most
}

// aside is a node that is not followed any more.
type aside struct {
	node
	most float32
}

// newAny makes a node of some, nil ones too, of which at least need must find a doc.
func newAny(nodes []node, need int) node { return (&anyNode{need: max(need, 1)}).of(nodes) }

// newBest makes a node of some, nil ones too, of which the best score counts.
func newBest(nodes []node, tie float32) node {
	return (&anyNode{need: 1, best: true, tie: tie}).of(nodes)
}

// of makes it a node of some; nil when they find nothing, and the only one that does.
func (a *anyNode) of(nodes []node) node {
	a.fill(nodes)
	switch {
	case len(a.heap) < a.need || a.settle() == end:
		return nil
	case len(a.heap) == 1:
		return a.heap[0].node
	}
	return a
}

// fill puts nodes that find something into the heap.
func (a *anyNode) fill(nodes []node) {
	a.sure, a.least, a.limit = true, none, a.bound
	a.heap = make([]standing, 0, len(nodes))
	for _, n := range nodes {
		if n != nil {
			a.heap = append(a.heap, standing{at: n.doc(), node: n})
			a.sum += n.cost()
			a.sure = a.sure && n.exact()
		}
	}
	for i := len(a.heap)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
}

// down restores the heap below i.
func (a *anyNode) down(i int) {
	h := a.heap
	x := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].at < h[child].at {
			child++
		}
		if x.at <= h[child].at {
			break
		}
		h[i], i = h[child], child
	}
	h[i] = x
}

// settle makes the doc on top the current one, if enough nodes have it, or goes on.
func (a *anyNode) settle() segment.Doc {
	for {
		if len(a.heap) == 0 {
			a.current = end
			return end
		}
		d := a.heap[0].at
		a.current, a.tried = d, false
		if d == end {
			return end
		}
		if a.least > 0 && (!a.any || d > a.behind) {
			if to := a.skip(d); to > d {
				a.move(to)
				continue
			}
		}
		if a.need == 1 || a.standing(0) >= a.need {
			return d
		}
		a.move(d + 1)
	}
}

// move takes all nodes to at least to.
func (a *anyNode) move(to segment.Doc) {
	for len(a.heap) > 0 && a.heap[0].at < to {
		top := &a.heap[0]
		if top.at+1 == to {
			top.at = top.next()
		} else {
			top.at = top.advance(to)
		}
		a.down(0)
	}
}

// standing is how many nodes from i downwards stand on the current doc.
func (a *anyNode) standing(i int) int {
	if i >= len(a.heap) || a.heap[i].at != a.current {
		return 0
	}
	return 1 + a.standing(2*i+1) + a.standing(2*i+2)
}

func (a *anyNode) doc() segment.Doc { return a.current }
func (a *anyNode) cost() int        { return a.sum }
func (a *anyNode) next() segment.Doc {
	a.move(a.current + 1)
	return a.settle()
}
func (a *anyNode) advance(to segment.Doc) segment.Doc {
	a.move(to)
	return a.settle()
}

func (a *anyNode) exact() bool { return a.sure }

func (a *anyNode) matches() bool {
	if a.sure {
		return true
	}
	a.try()
	return len(a.found) >= a.need
}

// try finds the nodes that match the current doc.
func (a *anyNode) try() {
	if !a.tried {
		a.found, a.tried = a.found[:0], true
		a.gather(0)
		for _, n := range a.rest {
			if has(n.node, a.current) {
				a.found = append(a.found, n.node)
			}
		}
	}
}

func (a *anyNode) gather(i int) {
	if i >= len(a.heap) || a.heap[i].at != a.current {
		return
	}
	if n := a.heap[i].node; n.matches() {
		a.found = append(a.found, n)
	}
	a.gather(2*i + 1)
	a.gather(2*i + 2)
}

func (a *anyNode) score() float32 {
	a.try()
	if a.best {
		return a.bestScore()
	}
	sum := 0.0
	for _, n := range a.found {
		sum += float64(n.score())
	}
	return float32(sum)
}

func (a *anyNode) bestScore() float32 {
	best, others := float32(0), 0.0
	for _, n := range a.found {
		s := n.score()
		if s >= best {
			others, best = others+float64(best), s
		} else {
			others += float64(s)
		}
	}
	return float32(float64(best) + float64(others*float64(a.tie)))
}

func (a *anyNode) bound(from segment.Doc) (segment.Doc, float32) {
	last, best, sum := end, float32(0), 0.0
	for i := range a.heap {
		l, most := boundFrom(a.heap[i].node, from)
		last, best, sum = min(last, l), max(best, most), sum+float64(most)
	}
	for _, n := range a.rest {
		l, most := boundFrom(n.node, from)
		last, best, sum = min(last, l), max(best, most), sum+float64(most)
	}
	return last, a.together(best, sum)
}

func (a *anyNode) ceiling() float32 {
	best, sum := float32(0), 0.0
	for i := range a.heap {
		most := a.heap[i].ceiling()
		best, sum = max(best, most), sum+float64(most)
	}
	for _, n := range a.rest {
		best, sum = max(best, n.most), sum+float64(n.most)
	}
	return a.together(best, sum)
}

// together is the greatest score of nodes of which the best and the sum are known.
func (a *anyNode) together(best float32, sum float64) float32 {
	if a.best {
		sum = float64(best) + (sum-float64(best))*math.Max(0, float64(a.tie))
	}
	return roundUp(sum, len(a.heap)+len(a.rest)+2)
}

func (a *anyNode) demand(least float32) {
	a.block(least)
	if a.need > 1 {
		return
	}
	a.part()
	if a.best && a.tie == 0 { // what is below does not count where the best is enough
		for i := range a.heap {
			a.heap[i].demand(least)
		}
	}
}

// block allows to leave out blocks.
func (a *anyNode) block(least float32) { a.least, a.any = least, false }

// part finds the nodes that are no longer followed: the least ones, as long as they cannot
// reach together what is demanded.
func (a *anyNode) part() {
	best, sum := float32(0), 0.0
	for _, n := range a.rest {
		best, sum = max(best, n.most), sum+float64(n.most)
	}
	for len(a.heap) > 0 {
		low := 0
		for i := range a.heap {
			if a.heap[i].high() < a.heap[low].high() {
				low = i
			}
		}
		most := a.heap[low].high()
		if best, sum = max(best, most), sum+float64(most); a.together(best, sum) >= a.least {
			break
		}
		a.rest = append(a.rest, aside{a.heap[low].node, most})
		a.heap = slices.Delete(a.heap, low, low+1)
	}
	for i := len(a.heap)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
}
