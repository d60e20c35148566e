package search

import (
	"math"

	"github.com/reshelve/reshelve/segment"
)

// anyNode is the docs that at least some of its nodes find. Its score is the sum of theirs,
// or with best the greatest of theirs and tie times the others'.
type anyNode struct {
	heap   []standing // the first doc on top
	need   int
	sure   bool // all are exact
	best   bool
	tie    float32
	sum    int // cost
	least  float32
	behind segment.Doc // up to here, most has been found great enough
	any    bool        // behind counts
	limit  func(from segment.Doc) (last segment.Doc, most float32)

	current segment.Doc
	found   []node // those that match the current doc
	tried   bool   // found counts
}

// standing is a node with its current doc.
type standing struct {
	at segment.Doc
	node
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
	for _, n := range nodes {
		if n != nil {
			a.heap = append(a.heap, standing{n.doc(), n})
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
	for a.heap[0].at < to {
		top := &a.heap[0]
		if top.at+1 == to {
			top.at = top.node.next()
		} else {
			top.at = top.node.advance(to)
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

// skip is the first doc from d on whose block may reach the score that is demanded.
func (a *anyNode) skip(d segment.Doc) segment.Doc {
	for {
		last, most := a.limit(d)
		if most >= a.least {
			a.behind, a.any = last, true
			return d
		}
		if last == end {
			return end
		}
		d = last + 1
	}
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
		s := &a.heap[i]
		if s.at == end {
			continue
		}
		l, most := s.bound(max(from, s.at))
		last, best, sum = min(last, l), max(best, most), sum+float64(most)
	}
	if a.best {
		sum = float64(best) + (sum-float64(best))*math.Max(0, float64(a.tie))
	}
	return last, roundUp(sum, len(a.heap)+2)
}

func (a *anyNode) demand(least float32) { a.least, a.any = least, false }
