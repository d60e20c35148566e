package search

import (
	"math"
	"math/bits"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// run tells a sink what a node finds.
func (k *sink) run(n node) error {
	if k.counts(n) {
		k.decide()
		if k.stop {
			return nil
		}
	}
	if s, ok := takeApart(n); ok {
		return newWindows(k, s).run()
	}
	switch n := n.(type) {
	case *termNode:
		return k.blocks(n)
	case *fixedNode:
		switch of := n.node.(type) {
		case *setNode:
			return k.set(of.set, n.value)
		case *everyNode:
			return k.set(nil, n.value)
		}
	case *setNode:
		return k.set(n.set, 0)
	}
	return k.each(n)
}

// simple reports whether all docs of the view that the query finds count.
func (k *sink) simple() bool {
	return k.accept == nil && k.slice == nil && !k.filter && k.least == nil
}

// counts adds how many docs a node finds in the view, when that is known beforehand.
func (k *sink) counts(n node) bool {
	if !k.simple() || !n.exact() {
		return false
	}
	if f, ok := n.(*fixedNode); ok {
		n = f.node
	}
	switch n.(type) {
	case *termNode, *setNode, *everyNode, *listNode:
		k.tally.total.Add(int64(n.cost()))
		k.counted = true
		return true
	}
	return false
}

// known is how many documents of a view a plan finds, when that can be told without looking
// at each.
func (r *reader) known(p plan) (int, bool) {
	switch p := p.(type) {
	case *constantPlan:
		return r.known(p.of)
	case allPlan:
		return r.view.Docs(), true
	case *matchPlan:
		f := r.view.Field(p.field.Name())
		if f == nil || !p.match.Numbers || f.Points() == nil || f.Numbers() == nil || !f.Numbers().Single() {
			return 0, false
		}
		return f.Points().Count(p.match.Least, p.match.Greatest), true
	}
	return 0, false
}

// seldom is by how many times rarer a filter must be than what it filters for its docs to
// be looked up one by one.
const seldom = 16

// parts are what windows are made of: nodes of which a doc must have any, and what it must,
// and must not, be found by too.
type parts struct {
	any, filters, not []node
	fixed             bool // all docs have the score value; otherwise the sum of the scores of any
	value             float32
}

// takeApart takes a node apart, if it is one for windows.
func takeApart(n node) (p parts, ok bool) {
	for {
		switch outer := n.(type) {
		case *fixedNode:
			if p.fixed {
				return p, false
			}
			n, p.fixed, p.value = outer.node, true, outer.value
			continue
		case *withoutNode:
			n, p.not = outer.node, append(p.not, outer.not...)
			continue
		}
		break
	}
	if a, is := n.(*allNode); is {
		if n = p.all(a); n == nil {
			return p, false
		}
	}
	switch n := n.(type) {
	case *anyNode:
		for _, s := range n.heap {
			p.any = append(p.any, s.node)
		}
		return p, n.need == 1 && (p.fixed || !n.best)
	case *termNode, *setNode:
		p.any = []node{n}
		_, term := n.(*termNode)
		return p, len(p.filters)+len(p.not) > 0 || p.fixed && term
	}
	p.any = []node{n}
	return p, len(p.filters) > 0 && p.fixed
}

// all takes what all must find apart, and gives the node that leads: the one with scores,
// or without scores the rarest. Nil: it is better done doc by doc.
func (p *parts) all(a *allNode) node {
	lead, most := a.nodes[0], 0
	if len(a.scores) == 0 && a.more == nil {
		p.fixed = true
	}
	if !p.fixed {
		if len(a.scores) != 1 || a.more != nil {
			return nil
		}
		lead, most = a.scores[0], a.scores[0].cost()
	}
	for _, n := range a.nodes {
		if n == lead {
			continue
		}
		if _, term := n.(*termNode); term {
			most = max(most, n.cost())
		}
		p.filters = append(p.filters, n)
	}
	if a.nodes[0].cost() < most/seldom {
		return nil
	}
	return lead
}

// tick looks now and then whether the search is still wanted.
func (k *sink) tick() error {
	if k.ticks++; k.ticks%256 != 0 {
		return nil
	}
	return k.ctx.Err()
}

// each tells the docs of any node one by one.
func (k *sink) each(n node) error {
	if k.demand > 0 {
		n.demand(k.demand)
	}
	for d := n.doc(); d != end; d = n.next() {
		if err := k.tick(); err != nil {
			return err
		}
		if k.accept != nil && !k.accept.Has(d) || !n.matches() {
			continue
		}
		if err := k.add(d, n.score()); err != nil {
			return err
		}
		if k.n > 0 {
			continue
		}
		if k.stop {
			return nil
		}
		if k.demand > 0 {
			n.demand(k.demand)
		}
	}
	return k.flush()
}

// set tells the docs of a set, which all have one score; nil are all docs.
func (k *sink) set(set *segment.Bits, score float32) error {
	for i := range k.scores {
		k.scores[i] = score
	}
	words := int(k.limit+63) / 64
	for i := range words {
		w := uint64(math.MaxUint64)
		if set != nil {
			w = set.Words()[i]
		} else if over := k.limit & 63; i == words-1 && over != 0 {
			w = 1<<over - 1
		}
		if k.accept != nil {
			w &= k.accept.Words()[i]
		}
		if k.n+64 > batch {
			if err := k.flush(); err != nil || k.stop || k.demand > score {
				return err
			}
		}
		docs, n := k.docs[k.n:], 0
		for first := segment.Doc(i << 6); w != 0; w &= w - 1 {
			docs[n] = first + segment.Doc(bits.TrailingZeros64(w))
			n++
		}
		k.n += n
	}
	return k.flush()
}

// blocks tells the docs of a term, and leaves out blocks that cannot reach the score that
// is demanded.
func (k *sink) blocks(t *termNode) error {
	for t.current != end && !k.stop {
		if err := k.tick(); err != nil {
			return err
		}
		if k.demand > 0 && t.scores != nil {
			last, most := t.bound(t.current)
			if most < k.demand {
				if last == end || t.advance(last+1) == end {
					break
				}
				continue
			}
		}
		if err := k.block(t); err != nil {
			return err
		}
	}
	return k.flush()
}

// block tells what is left of the current block of a term, and goes behind it.
func (k *sink) block(t *termNode) error {
	if t.docs == nil {
		if k.accept == nil || k.accept.Has(t.current) {
			if err := k.add(t.current, t.score()); err != nil {
				return err
			}
		}
		t.next()
		return nil
	}
	docs, freqs := t.docs[t.i:], t.frequencies()
	f, score := uint32(1), float32(0)
	for i, doc := range docs {
		if k.accept != nil && !k.accept.Has(doc) {
			continue
		}
		if freqs != nil {
			f = freqs[i]
		}
		if t.scores != nil {
			if score = t.scores.score(float32(f), t.length(doc)); score < k.demand {
				continue
			}
		}
		if err := k.add(doc, score); err != nil {
			return err
		}
	}
	t.block()
	return nil
}
