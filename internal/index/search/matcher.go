package search

import "github.com/reshelve/reshelve/internal/index/segment"

// Matcher works out a query for an index, for filters of aggregations and the like:
// without scores. Around is the nested field whose objects are looked for; "" for documents.
// As on the server, what is wrong with it is told as it is, and not as the
// cause of a query_shard_exception.
func (c *Context) Matcher(index int, around string, q Query) (Matcher, error) {
	r, err := c.make(compiler{views: c.work[index].views, around: around, bare: true, filters: true}, c.work[index], q, false)
	if err != nil {
		return nil, err
	}
	return matching{c, c.work[index], r}, nil
}

// matching is a plan whose docs are wanted as a set.
type matching struct {
	c    *Context
	work *work
	of   *ready
}

// Docs is for Matcher.
func (m matching) Docs(v segment.View) (*segment.Bits, error) {
	set := segment.NewBits(v.Docs())
	n, err := m.c.newReader(m.work, m.of, v, nil).root(m.of.plan, false)
	if n == nil || err != nil {
		return set, err
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
	return set, m.c.failed.get()
}
