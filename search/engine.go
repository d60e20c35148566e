package search

import (
	"context"

	"github.com/reshelve/reshelve/segment"
)

// Context is one search at work: what collectors may ask. Not safe for concurrent use.
type Context struct {
	ctx     context.Context
	request *Request
	indices []Index
	work    []*work // of each index
}

// work is what a search means in one index.
type work struct {
	index *Index
	views []segment.View
	query plan
	post  plan // nil: none
	stats *statistics
}

// Index is the one that a place is in.
func (c *Context) Index(i int) *Index { return &c.indices[i] }

// Run searches. It honours ctx between blocks of docs. The error is an *exception.Error
// for what the request asks wrongly, and *segment.Damaged for a damaged segment.
func Run(ctx context.Context, indices []Index, r Request) (Result, error) {
	c := &Context{ctx: ctx, request: &r, indices: indices}
	var result Result
	err := segment.Guard(func() (err error) {
		result, err = c.run()
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// run prepares all indices, then visits their views.
func (c *Context) run() (Result, error) {
	for i := range c.indices {
		w, err := c.prepare(&c.indices[i])
		if err != nil {
			return Result{}, err
		}
		c.work = append(c.work, w)
	}
	return c.search()
}

// search looks for what was prepared.
func (c *Context) search() (Result, error) {
	for _, collector := range c.request.Collectors {
		if p, ok := collector.(Preparing); ok {
			if err := p.Prepare(c.indices); err != nil {
				return Result{}, err
			}
		}
	}
	rank, scored, err := c.ranking()
	if err != nil {
		return Result{}, err
	}
	t := tally{limit: c.request.TrackTotal}
	if err := c.visit(&t, rank, scored); err != nil {
		return Result{}, err
	}
	return c.result(&t, rank)
}

// prepare makes the plans for an index.
func (c *Context) prepare(index *Index) (*work, error) {
	w := &work{index: index}
	for _, s := range index.Sources {
		w.views = append(w.views, s.Views...)
	}
	var err error
	if w.query, err = c.compile(w, c.request.Query); err != nil {
		return nil, err
	}
	if index.Filter != nil {
		filter, err := c.compile(w, index.Filter)
		if err != nil {
			return nil, err
		}
		w.query = &boolPlan{must: []plan{w.query}, filter: []plan{filter}}
	}
	if c.request.PostFilter != nil {
		if w.post, err = c.compile(w, c.request.PostFilter); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (c *Context) compile(w *work, q Query) (plan, error) {
	compiler := compiler{index: w.index, now: c.request.Now, limits: c.request.Limits, views: w.views}
	return compiler.compile(q)
}

// ranking is what keeps the hits, nil when none are wanted, and whether docs are scored.
func (c *Context) ranking() (rank ranking, scored bool, err error) {
	r := c.request
	scored = r.TrackScore || r.MinScore != nil
	for _, collector := range r.Collectors {
		if s, ok := collector.(Scoring); ok && s.NeedsScores() {
			scored = true
		}
	}
	switch {
	case r.Size == 0:
		return nil, scored, nil
	case len(r.Sort) == 0:
		return newTopScores(r.Size), true, nil
	}
	return c.sorted(scored)
}

// visit goes through all views.
func (c *Context) visit(t *tally, rank ranking, scored bool) error {
	parts, err := newSlicer(c)
	if err != nil {
		return err
	}
	number := 0
	for i, w := range c.work {
		if scored {
			w.stats = gatherStatistics(w.index, w.query)
		}
		for j, source := range w.index.Sources {
			for at := range source.Views {
				v := &visited{index: i, source: j, at: at, number: w.index.Number, view: source.Views[at]}
				k := &sink{ctx: c.ctx, tally: t, rank: rank, least: c.request.MinScore, demand: none}
				if parts != nil {
					k.slice = parts.in(v.view)
				}
				if err := c.look(w, v, k, number); err != nil {
					return err
				}
				number++
			}
		}
	}
	return nil
}

// look finds the docs of one view.
func (c *Context) look(w *work, v *visited, k *sink, number int) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	k.accept, k.limit = shownRoots(v.view), segment.Doc(v.view.Docs())
	if k.rank != nil {
		if err := k.rank.begin(number, v); err != nil {
			return err
		}
	}
	scored := w.stats != nil
	for _, collector := range c.request.Collectors {
		leaf, err := collector.Begin(Place{Context: c, Index: v.index, Source: v.source, At: v.at, View: v.view})
		if err != nil {
			return err
		}
		if leaf == nil {
			continue
		}
		s, ok := collector.(Scoring)
		all, _ := leaf.(DocsLeaf)
		k.leaves = append(k.leaves, collecting{leaf: leaf, all: all, scored: ok && s.NeedsScores()})
	}
	if w.post != nil {
		k.filter, k.post = true, newReader(v.view, nil, k.accept).filter(w.post)
	}
	n := newReader(v.view, w.stats, k.accept).node(w.query, scored)
	if n == nil {
		return nil
	}
	k.decide()
	if k.stop {
		return nil
	}
	return k.run(n)
}

// shownRoots are the documents that a view shows; nil: all its docs.
func shownRoots(v segment.View) *segment.Bits {
	roots := v.RootSet()
	switch {
	case v.Hidden == nil:
		return roots
	case roots == nil:
		return without(nil, v.Hidden)
	}
	return without(roots, v.Hidden)
}

// without is a set, or all docs when it is nil, without another.
func without(set, hidden *segment.Bits) *segment.Bits {
	left := segment.NewBits(hidden.Len())
	words, minus := left.Words(), hidden.Words()
	if set != nil {
		for i, w := range set.Words() {
			words[i] = w &^ minus[i]
		}
		return left
	}
	for i := range words {
		words[i] = ^minus[i]
	}
	if over := hidden.Len() & 63; over != 0 {
		words[len(words)-1] &= 1<<over - 1
	}
	return left
}

// result is what was found.
func (c *Context) result(t *tally, rank ranking) (Result, error) {
	r := Result{Total: t.total}
	if t.limit >= 0 && r.Total > t.limit {
		r.Total, r.AtLeast = t.limit, true
	}
	if rank == nil {
		return r, nil
	}
	var err error
	if r.Hits, err = rank.hits(); err != nil {
		return r, err
	}
	if len(c.request.Sort) == 0 {
		r.Scored = true
		if len(r.Hits) > 0 {
			r.MaxScore = &r.Hits[0].Score
		}
	}
	return r, nil
}
