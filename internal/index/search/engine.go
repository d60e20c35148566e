package search

import (
	"context"
	"errors"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Context is one search at work: what collectors may ask. Not safe for concurrent use.
type Context struct {
	ctx     context.Context
	whole   context.Context // ctx without the request's timeout
	late    bool            // it was reached
	request *Request
	indices []Index
	work    []*work  // of each index
	failed  *failure // of the nodes of one goroutine

	around string // of Best: the nested field whose objects are sorted; "": documents
	known  *namer // see named
	asked  bool
}

// work is what a search means in one index.
type work struct {
	index  *Index
	visits []*visited
	views  []segment.View // that are visited
	query  *ready
	post   *ready // nil: none
}

// ready is a plan with the statistics of its leaves.
type ready struct {
	plan  plan
	told  plan // before it was simplified, with its names
	stats *statistics
}

// Views is how many views of an index are visited.
func (c *Context) Views(index int) int { return len(c.work[index].views) }

// Index is the one that a place is in.
func (c *Context) Index(i int) *Index { return &c.indices[i] }

// Run searches. It honours ctx between blocks of docs. The error is an *exception.Error
// for what the request asks wrongly, and *segment.Damaged for a damaged segment.
func Run(ctx context.Context, indices []Index, r Request) (Result, error) {
	if len(r.Sort) == 1 && r.Sort[0].Field == "_score" && r.Sort[0].Descending {
		r.Sort = nil
	}
	c := &Context{ctx: ctx, whole: ctx, request: &r, indices: indices, failed: new(failure)}
	working.Add(1)
	defer working.Add(-1)
	if r.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, r.Timeout)
		defer cancel()
		c.ctx = limited
		defer func() { c.ctx = c.whole }() // collectors work on
	}
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
	rank, err := c.ranking()
	if err != nil {
		return Result{}, err
	}
	for i := range c.indices {
		if c.request.Check == nil {
			break
		}
		if err := c.request.Check(&c.indices[i]); err != nil {
			return Result{}, err
		}
	}
	t := tally{limit: c.request.TrackTotal}
	if err := c.visit(&t, rank); err != nil && !c.timedOut(err) {
		return Result{}, err
	}
	return c.result(&t, rank)
}

// timedOut reports whether a search ended because its own time is over; what has been found
// is told then.
func (c *Context) timedOut(err error) bool {
	if c.ctx == c.whole || c.whole.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	c.ctx, c.late = c.whole, true
	return true
}

// prepare makes the plans for an index.
func (c *Context) prepare(index *Index) (w *work, err error) {
	w = &work{index: index, visits: index.visits(len(c.work))}
	w.views = make([]segment.View, len(w.visits))
	for i, v := range w.visits {
		w.views[i] = v.view
	}
	q := c.request.Query
	if index.Filter != nil {
		q = &Wrapped{Common: Common{Boost: 1}, Query: q, Filter: index.Filter}
	}
	if w.query, err = c.ready(w, q, c.scored()); err == nil && c.request.PostFilter != nil {
		w.post, err = c.ready(w, c.request.PostFilter, false)
	}
	return w, err
}

// ready makes a plan of a query, and looks up what it needs for scores.
func (c *Context) ready(w *work, q Query, scored bool) (*ready, error) {
	return c.make(compiler{views: w.views, filters: !scored}, w, q, scored)
}

// readyIn is ready for a query of the objects of a nested field.
func (c *Context) readyIn(w *work, path string, q Query) (*ready, error) {
	return c.make(compiler{views: w.views, around: path, filters: true}, w, q, false)
}

func (c *Context) make(with compiler, w *work, q Query, scored bool) (*ready, error) {
	with.index, with.now, with.limits = w.index, c.request.Now, w.index.Limits.or(c.request.Limits)
	p, err := with.compile(q)
	if err != nil {
		return nil, err
	}
	simple := simplify(p)
	return &ready{plan: simple, told: p, stats: gatherStatistics(w.views, simple, scored)}, nil
}

// scored reports whether the documents need scores.
func (c *Context) scored() bool {
	r := c.request
	if r.TrackScore || r.MinScore != nil || r.Size > 0 && len(r.Sort) == 0 {
		return true
	}
	for _, collector := range r.Collectors {
		if needsScores(collector) {
			return true
		}
	}
	return slices.ContainsFunc(r.Sort, byItsScore)
}

func needsScores(c Collector) bool {
	s, ok := c.(Scoring)
	return ok && s.NeedsScores()
}

// ranking is what keeps the hits; nil when none are wanted. An order is checked all the same.
func (c *Context) ranking() (ranking, error) {
	r := c.request
	var rank ranking = newTopScores(r.Size)
	switch {
	case len(r.Sort) > 0:
		sorted, err := c.sorted()
		if err != nil {
			return nil, err
		}
		rank = sorted
	case r.After != nil:
		return nil, exception.New(exception.IllegalArgument, "Sort must contain at least one field.")
	}
	if r.Size == 0 {
		return nil, nil
	}
	return rank, nil
}

// visit goes through all views.
func (c *Context) visit(t *tally, rank ranking) error {
	parts, err := newSlicer(c)
	if err != nil {
		return err
	}
	n := 0
	for _, w := range c.work {
		n += len(w.visits)
	}
	pieces, docs := make([]piece, 0, n), 0
	for _, w := range c.work {
		for _, v := range w.visits {
			pieces, docs = append(pieces, piece{w, v}), docs+v.view.Docs()
		}
	}
	help := usefulHelpers(len(pieces), docs)
	if len(c.request.Collectors) > 0 {
		help = helping{} // they see one document after the other
	}
	var others []ranking
	var used []*scratch
	err = inParallel(len(pieces), help, func(number int) func(at int) error {
		mine, kept := c, rank
		if number > 0 {
			mine = c.fork()
		}
		if number > 0 && rank != nil {
			kept = rank.fork()
			others = append(others, kept)
		}
		shared := takeScratch()
		used = append(used, shared)
		k := new(sink) // of one view after the other
		return func(at int) error {
			w, v := pieces[at].work, pieces[at].visited
			*k = sink{ctx: c.ctx, tally: t, rank: kept, least: c.request.MinScore, failed: mine.failed, scratch: shared, demand: none}
			if parts != nil {
				k.slice = parts.in(v.view)
			}
			return mine.look(w, v, k, at)
		}
	})
	for _, other := range others {
		rank.join(other)
	}
	if err == nil { // nobody works any more
		for _, s := range used {
			s.release()
		}
	}
	return err
}

// fork is the context for another goroutine, with a failure of its own.
func (c *Context) fork() *Context {
	other := *c
	other.failed = new(failure)
	return &other
}

// piece is a view of an index.
type piece struct {
	*work
	*visited
}

// Err is why the search is to end: its context is done. A collector that takes long over
// few documents asks now and then.
func (c *Context) Err() error { return c.ctx.Err() }

// look finds the docs of one view.
func (c *Context) look(w *work, v *visited, k *sink, number int) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	k.iterators.used = 0
	k.accept, k.limit = shownRoots(v.view), segment.Doc(v.view.Docs())
	if k.rank != nil {
		if err := k.rank.begin(number, v); err != nil {
			return err
		}
	}
	for _, collector := range c.request.Collectors {
		leaf, err := collector.Begin(Place{Context: c, Index: v.index, View: v.view, visited: v})
		if err != nil {
			return err
		}
		if leaf == nil {
			continue
		}
		all, _ := leaf.(DocsLeaf)
		k.leaves = append(k.leaves, collecting{leaf: leaf, all: all, scored: needsScores(collector)})
	}
	var err error
	if k.filter = w.post != nil; k.filter {
		if k.post, err = c.newReader(w, w.post, v.view, k.accept).reusing(&k.iterators).root(w.post.plan, false); err != nil {
			return err
		}
	}
	if done, err := k.byKey(w.query.plan, v, c.scored()); done || err != nil {
		return err
	}
	r := c.newReader(w, w.query, v.view, k.accept).reusing(&k.iterators)
	if k.rank == nil && len(k.leaves) == 0 && k.simple() {
		if n, ok := r.known(w.query.plan); ok {
			k.tally.total.Add(int64(n))
			return nil
		}
	}
	n, err := r.root(w.query.plan, c.scored())
	if n == nil || err != nil {
		return err
	}
	if err := k.whole(w.query.plan); err != nil {
		return err
	}
	k.decide()
	if k.stop {
		return nil
	}
	return k.run(n)
}

// ofAll is the score of a plan that finds all documents.
func ofAll(p plan) (score float32, all bool) {
	switch p := p.(type) {
	case allPlan:
		return p.score, true
	case *constantPlan:
		_, all = ofAll(p.of)
		return p.score, all
	}
	return 0, false
}

// shownRoots are the documents that a view shows; nil: all its docs.
func shownRoots(v segment.View) *segment.Bits {
	roots := v.RootSet()
	switch {
	case v.Hidden == nil:
		return roots
	case roots == nil:
		return v.Hidden.Rest()
	}
	return without(roots, v.Hidden)
}

// without is a set without another.
func without(set, hidden *segment.Bits) *segment.Bits {
	left := segment.NewBits(hidden.Len())
	words, minus := left.Words(), hidden.Words()
	for i, w := range set.Words() {
		words[i] = w &^ minus[i]
	}
	return left
}

// result is what was found.
func (c *Context) result(t *tally, rank ranking) (Result, error) {
	r := Result{Total: t.total.Load(), TimedOut: c.late}
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
	if names := c.named(); names != nil {
		if err := names.tell(r.Hits); err != nil {
			return r, err
		}
	}
	r.Scored = len(c.request.Sort) == 0 || c.request.TrackScore || slices.ContainsFunc(c.request.Sort, byItsScore)
	switch rank := rank.(type) {
	case *topScores:
		if len(r.Hits) > 0 {
			r.MaxScore = &r.Hits[0].Score
		}
	case *sortedHits:
		if c.request.TrackScore && len(r.Hits) > 0 {
			r.MaxScore = &rank.best
		}
	}
	return r, nil
}

func byItsScore(s Sort) bool { return s.Field == "_score" }
