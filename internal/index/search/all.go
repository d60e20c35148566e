package search

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// allNode is the docs that all of its nodes find; its score is the sum of theirs. While a
// score is demanded, blocks that cannot reach it are left out.
type allNode struct {
	nodes   []node // the rarest first; it leads
	check   []node // those that are not exact
	scores  []node
	more    node // its score is added to their rounded sum; nil: nothing
	current segment.Doc
	demanded
}

// newAll makes a node of one or more, of which some have scores, and one that may be nil
// has a score that is added at last. One that finds nothing makes it nil.
func newAll(nodes, scores []node, more node) node {
	for _, n := range nodes {
		if n == nil {
			return nil
		}
	}
	if len(nodes) == 1 {
		return nodes[0]
	}
	a := meetAll(nodes)
	if a.scores, a.more = scores, more; a.current == end {
		return nil
	}
	return a
}

// meetAll makes a node without scores of one or more.
func meetAll(nodes []node) *allNode {
	a := &allNode{nodes: slices.Clone(nodes)}
	a.demanded = demanded{least: none, limit: a.bound}
	slices.SortStableFunc(a.nodes, func(x, y node) int { return cmp.Compare(x.cost(), y.cost()) })
	for _, n := range a.nodes {
		if !n.exact() {
			a.check = append(a.check, n)
		}
	}
	a.meet(a.nodes[0].doc())
	return a
}

// meet goes to the first doc from d on, where the first node stands, that all have.
func (a *allNode) meet(d segment.Doc) segment.Doc {
	lead, others := a.nodes[0], a.nodes[1:]
again:
	for d != end {
		if a.least > 0 && (!a.any || d > a.behind) {
			if to := a.skip(d); to > d {
				d = lead.advance(to)
				continue
			}
		}
		for _, n := range others {
			e := n.doc()
			if e < d {
				e = n.advance(d)
			}
			if e > d {
				if e == end {
					d = end
				} else {
					d = lead.advance(e)
				}
				continue again
			}
		}
		break
	}
	a.current = d
	return d
}

func (a *allNode) doc() segment.Doc  { return a.current }
func (a *allNode) cost() int         { return a.nodes[0].cost() }
func (a *allNode) exact() bool       { return len(a.check) == 0 }
func (a *allNode) next() segment.Doc { return a.meet(a.nodes[0].next()) }
func (a *allNode) advance(to segment.Doc) segment.Doc {
	return a.meet(a.nodes[0].advance(to))
}

func (a *allNode) matches() bool {
	for _, n := range a.check {
		if !n.matches() {
			return false
		}
	}
	return true
}

func (a *allNode) score() float32 {
	sum := 0.0
	for _, n := range a.scores {
		sum += float64(n.score())
	}
	if a.more != nil {
		return float32(sum) + a.more.score()
	}
	return float32(sum)
}

func (a *allNode) bound(from segment.Doc) (segment.Doc, float32) {
	last, sum := end, 0.0
	for _, n := range a.scores {
		l, most := boundFrom(n, from)
		last, sum = min(last, l), sum+float64(most)
	}
	most := roundUp(sum, len(a.scores))
	if a.more != nil {
		l, more := boundFrom(a.more, from)
		last, most = min(last, l), roundUp(float64(most)+float64(more), 2)
	}
	return last, most
}

// boundFrom is the bound of a node that may stand behind from.
func boundFrom(n node, from segment.Doc) (last segment.Doc, most float32) {
	if d := max(from, n.doc()); d != end {
		return n.bound(d)
	}
	return end, 0
}

func (a *allNode) ceiling() float32 {
	sum := 0.0
	for _, n := range a.scores {
		sum += float64(n.ceiling())
	}
	most := roundUp(sum, len(a.scores))
	if a.more != nil {
		most = roundUp(float64(most)+float64(a.more.ceiling()), 2)
	}
	return most
}

func (a *allNode) demand(least float32) {
	a.least, a.any = least, false
	if len(a.scores) == 1 && a.more == nil {
		a.scores[0].demand(least)
	}
}
