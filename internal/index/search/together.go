package search

import "github.com/reshelve/reshelve/internal/index/segment"

// synonymsNode is several terms of a field that count as one: how often they are in a doc
// together is what is scored.
type synonymsNode struct {
	*anyNode
	scores  *bm25
	lengths []byte
}

// synonyms makes the node, for which scores may be nil.
func (r *reader) synonyms(p *synonymsPlan, scores *bm25) node {
	f := r.view.Field(p.field)
	if f == nil {
		return nil
	}
	var terms []node
	for _, term := range p.terms {
		if e, ok := f.Lookup(term); ok && e.Docs > 0 {
			terms = append(terms, newTerm(f, e, scores, r.iterators.take()))
		}
	}
	n := newAny(terms, 1)
	if any, ok := n.(*anyNode); ok && scores != nil {
		s := &synonymsNode{any, scores, f.Lengths()}
		any.limit = s.bound
		return s
	}
	return n
}

func (s *synonymsNode) score() float32 {
	s.try()
	sum, length := float32(0), byte(1)
	for _, n := range s.found {
		sum += float32(n.(*termNode).frequency())
	}
	if s.lengths != nil {
		length = s.lengths[s.current]
	}
	return s.scores.score(sum, length)
}

// bound is that of the terms together: frequencies that are added give no more than their
// scores added, but for what is rounded.
func (s *synonymsNode) bound(from segment.Doc) (segment.Doc, float32) {
	last, most := s.anyNode.bound(from)
	return last, min(most*(1+1e-6), s.scores.weight)
}

func (s *synonymsNode) ceiling() float32     { return s.scores.weight }
func (s *synonymsNode) demand(least float32) { s.block(least) }

// loweredNode is the docs of a node; where another one finds them too, the score is
// multiplied by a factor.
type loweredNode struct {
	node
	by            node // nil: finds nothing
	factor, boost float64
}

func newLowered(n, by node, p *boostingPlan) node {
	if n == nil || by == nil && p.boost == 1 {
		return n
	}
	return &loweredNode{n, by, float64(p.factor), float64(p.boost)}
}

func (l *loweredNode) score() float32 {
	s := float64(l.node.score())
	if l.by != nil && has(l.by, l.doc()) {
		s *= l.factor
	}
	return float32(s * l.boost)
}

func (l *loweredNode) bound(from segment.Doc) (segment.Doc, float32) {
	last, most := l.node.bound(from)
	return last, roundUp(float64(most)*max(1, l.factor)*l.boost, 2)
}

func (l *loweredNode) ceiling() float32 {
	return roundUp(float64(l.node.ceiling())*max(1, l.factor)*l.boost, 2)
}

func (l *loweredNode) demand(float32) {}
