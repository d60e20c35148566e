package search

import (
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// setNode is a set of docs.
type setNode struct {
	sure
	plain
	set     *segment.Bits
	n       int
	current segment.Doc
}

// newSet makes a node of a set; nil when it is empty.
func newSet(set *segment.Bits) node {
	n := set.Count()
	if n == 0 {
		return nil
	}
	return &setNode{set: set, n: n, current: set.Next(0)}
}

func (s *setNode) doc() segment.Doc  { return s.current }
func (s *setNode) cost() int         { return s.n }
func (s *setNode) next() segment.Doc { return s.advance(s.current + 1) }
func (s *setNode) advance(to segment.Doc) segment.Doc {
	s.current = s.set.Next(to)
	return s.current
}

// everyNode is every doc of a segment.
type everyNode struct {
	sure
	plain
	n       segment.Doc
	current segment.Doc
}

func newEvery(docs int) node {
	if docs == 0 {
		return nil
	}
	return &everyNode{n: segment.Doc(docs)}
}

func (e *everyNode) doc() segment.Doc  { return e.current }
func (e *everyNode) cost() int         { return int(e.n) }
func (e *everyNode) next() segment.Doc { return e.advance(e.current + 1) }
func (e *everyNode) advance(to segment.Doc) segment.Doc {
	if e.current = to; to >= e.n {
		e.current = end
	}
	return e.current
}

// listNode is a few docs, ascending.
type listNode struct {
	sure
	plain
	docs []segment.Doc
	i    int
}

// newList makes a node of docs in any order, each of which may be there twice.
func newList(docs []segment.Doc) node {
	if len(docs) == 0 {
		return nil
	}
	slices.Sort(docs)
	return &listNode{docs: slices.Compact(docs)}
}

func (l *listNode) doc() segment.Doc {
	if l.i < len(l.docs) {
		return l.docs[l.i]
	}
	return end
}
func (l *listNode) cost() int { return len(l.docs) }
func (l *listNode) next() segment.Doc {
	l.i++
	return l.doc()
}
func (l *listNode) advance(to segment.Doc) segment.Doc {
	i, _ := slices.BinarySearch(l.docs[l.i:], to)
	l.i += i
	return l.doc()
}
