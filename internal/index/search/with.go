package search

import "github.com/reshelve/reshelve/internal/index/segment"

// withNode is the docs of one node; where another one finds them too, it adds its score.
type withNode struct {
	node
	more    node
	least   float32
	behind  segment.Doc // bounds are known up to here
	any     bool        // behind counts
	most    float32     // that node gives alone
	current segment.Doc
}

func newWith(n, more node) node {
	if n == nil || more == nil {
		return n
	}
	return &withNode{node: n, more: more, least: none, current: n.doc()}
}

func (w *withNode) doc() segment.Doc  { return w.current }
func (w *withNode) next() segment.Doc { return w.settle(w.node.next()) }
func (w *withNode) advance(to segment.Doc) segment.Doc {
	return w.settle(w.node.advance(to))
}

// settle goes to the first doc from d on that may reach the score that is demanded. Where
// the node alone cannot, the other one must stand there too.
func (w *withNode) settle(d segment.Doc) segment.Doc {
	for w.least > 0 && d != end {
		if !w.any || d > w.behind {
			if to := w.skip(d); to > d {
				d = w.node.advance(to)
				continue
			}
		}
		if w.most >= w.least || at(w.more, d) {
			break
		}
		to := w.more.doc()
		if w.behind != end {
			to = min(to, w.behind+1)
		}
		d = w.node.advance(to)
	}
	w.current = d
	return d
}

// skip is the first doc from d on whose block may reach the score that is demanded.
func (w *withNode) skip(d segment.Doc) segment.Doc {
	for {
		last, alone, most := w.bounds(d)
		if most >= w.least {
			w.behind, w.any, w.most = last, true, alone
			return d
		}
		if last == end {
			return end
		}
		d = last + 1
	}
}

func (w *withNode) bounds(from segment.Doc) (last segment.Doc, alone, most float32) {
	last, alone = w.node.bound(from)
	if d := w.more.doc(); d != end {
		l, more := w.more.bound(max(from, d))
		return min(last, l), alone, roundUp(float64(alone)+float64(more), 2)
	}
	return last, alone, alone
}

func (w *withNode) bound(from segment.Doc) (segment.Doc, float32) {
	last, _, most := w.bounds(from)
	return last, most
}

func (w *withNode) ceiling() float32 {
	return roundUp(float64(w.node.ceiling())+float64(w.more.ceiling()), 2)
}

func (w *withNode) demand(least float32) { w.least, w.any = least, false }

func (w *withNode) score() float32 {
	s := w.node.score()
	if has(w.more, w.current) {
		s += w.more.score()
	}
	return s
}

// withoutNode is the docs of one node that others do not find.
type withoutNode struct {
	node
	not []node
}

// newWithout leaves out what any of some nodes, of which each may be nil, finds.
func newWithout(n node, not []node) node {
	w := &withoutNode{node: n}
	for _, o := range not {
		if o != nil {
			w.not = append(w.not, o)
		}
	}
	if n == nil || len(w.not) == 0 {
		return n
	}
	return w
}

func (w *withoutNode) exact() bool { return false }

func (w *withoutNode) matches() bool {
	d := w.doc()
	for _, n := range w.not {
		if n.doc() <= d && n.exact() && at(n, d) {
			return false
		}
	}
	if !w.node.matches() {
		return false
	}
	for _, n := range w.not {
		if !n.exact() && has(n, d) {
			return false
		}
	}
	return true
}

// fixedNode gives each doc of a node the same score.
type fixedNode struct {
	node
	value   float32
	dropped bool // more was demanded
}

func newFixed(n node, value float32) node {
	if n == nil {
		return nil
	}
	return &fixedNode{node: n, value: value}
}

func (f *fixedNode) score() float32                           { return f.value }
func (f *fixedNode) bound(segment.Doc) (segment.Doc, float32) { return end, f.value }
func (f *fixedNode) ceiling() float32                         { return f.value }
func (f *fixedNode) demand(least float32)                     { f.dropped = least > f.value }
func (f *fixedNode) next() segment.Doc {
	if f.dropped {
		return f.node.advance(end)
	}
	return f.node.next()
}
func (f *fixedNode) advance(to segment.Doc) segment.Doc {
	if f.dropped {
		to = end
	}
	return f.node.advance(to)
}
