package search

import (
	"context"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// Named scores the named parts of a query. Not safe for concurrent use.
type Named struct {
	c     *Context
	names *namer
}

// NewNamed works out the named parts of the query and the post filter of a request in an
// index. The error is that of Run.
func NewNamed(ctx context.Context, index *Index, r Request) (*Named, error) {
	c := &Context{ctx: ctx, request: &r, indices: []Index{*index}, failed: new(failure)}
	n := &Named{c: c}
	err := segment.Guard(func() error {
		w, err := c.prepare(&c.indices[0])
		if err != nil {
			return err
		}
		c.work = []*work{w}
		if n.names = c.names(); n.names != nil {
			for i := range n.names.parts[0] {
				part := &n.names.parts[0][i]
				part.stats = gatherStatistics(w.views, part.plan, true)
			}
		}
		return nil
	})
	return n, err
}

// Scores are the scores of a hit by the parts that found it, in the order of Hit.Matched.
func (n *Named) Scores(h *Hit) (scores []float32, err error) {
	if n.names == nil {
		return nil, nil
	}
	err = segment.Guard(func() error {
		v := n.c.indices[0].Sources[h.Source].Views[h.View]
		for _, part := range n.names.parts[0] {
			found, err := n.c.newReader(n.c.work[0], &part.ready, v, shownRoots(v)).root(part.plan, true)
			if err != nil {
				return err
			}
			if found != nil && has(found, h.Doc) {
				scores = append(scores, found.score())
			}
		}
		return n.c.failed.get()
	})
	return scores, err
}
