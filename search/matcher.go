package search

import "github.com/reshelve/reshelve/segment"

// Matcher works out a query for an index, for filters of aggregations and the like:
// without scores.
func (c *Context) Matcher(index int, q Query) (Matcher, error) {
	p, err := c.compile(c.work[index], q)
	if err != nil {
		return nil, err
	}
	return matching{p}, nil
}

// matching is a plan whose docs are wanted as a set.
type matching struct{ of plan }

// Docs is for Matcher.
func (m matching) Docs(v segment.View) (*segment.Bits, error) {
	set := segment.NewBits(v.Docs())
	n := newReader(v, nil, nil).filter(m.of)
	if n == nil {
		return set, nil
	}
	if s, ok := n.(*setNode); ok && v.Hidden == nil {
		copy(set.Words(), s.set.Words())
		return set, nil
	}
	for d := n.doc(); d != end; d = n.next() {
		if v.Shows(d) && n.matches() {
			set.Set(d)
		}
	}
	return set, nil
}
