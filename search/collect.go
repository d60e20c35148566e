package search

import (
	"math"
	"math/bits"

	"github.com/reshelve/reshelve/segment"
)

// run tells a sink what a node finds.
func (k *sink) run(n node) error {
	if k.counts(n) {
		k.decide()
		if k.stop {
			return nil
		}
	}
	if core, filters, not, ok := summed(n); ok {
		return newWindows(k, core, filters, not).run()
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
		k.tally.total += int64(n.cost())
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

// summed takes a node apart into a sum and what its docs must, and must not, be found by;
// false when it is none.
func summed(n node) (core, filters, not []node, ok bool) {
	if w, is := n.(*withoutNode); is {
		n, not = w.node, w.not
	}
	if a, is := n.(*allNode); is {
		if len(a.scores) != 1 || a.more != nil || a.nodes[0].cost() < a.scores[0].cost()/seldom {
			return nil, nil, nil, false
		}
		for _, f := range a.nodes {
			if f != a.scores[0] {
				filters = append(filters, f)
			}
		}
		n = a.scores[0]
	}
	switch n := n.(type) {
	case *anyNode:
		if n.best || n.need > 1 {
			return nil, nil, nil, false
		}
		for _, s := range n.heap {
			core = append(core, s.node)
		}
		return core, filters, not, true
	case *termNode:
		return []node{n}, filters, not, n.scores != nil && len(filters)+len(not) > 0
	}
	return nil, nil, nil, false
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
	docs, freqs := t.docs[t.i:], t.freqs
	if freqs != nil {
		freqs = freqs[t.i:]
	}
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
