package aggregate

import (
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Aggregation is one node of a request: its kind is the type of Kind.
type Aggregation struct {
	Name string
	Meta []byte // JSON; nil: none
	Kind Kind
	Subs []Aggregation
}

// Kind is one of the types of aggregations: *Terms, *Histogram, ….
type Kind interface{ kind() string }

// Options bound and help an aggregation.
type Options struct {
	MaxBuckets int   // of one answer; 0: catalog.MaxBuckets, negative: none
	Memory     int64 // that buckets may take, in bytes; 0: 128 MiB
	Now        int64 // the time, in milliseconds
}

// Collector collects for all aggregations of a request: New, search.Run, AppendJSON. Not
// safe for concurrent use.
type Collector struct {
	options Options
	tree    []Aggregation
	top     *children
	scored  bool
	leaf    leaf
	memory  *memory
	failed  error
}

var (
	_ search.Collector = (*Collector)(nil)
	_ search.Preparing = (*Collector)(nil)
	_ search.Scoring   = (*Collector)(nil)
	_ search.DocsLeaf  = (*leaf)(nil)
	_ search.WholeLeaf = (*leaf)(nil)
)

// New checks the tree as far as it can be without the indices.
func New(tree []Aggregation, o Options) (*Collector, error) {
	if o.MaxBuckets == 0 {
		o.MaxBuckets = catalog.MaxBuckets
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	c := &Collector{options: o, tree: tree}
	c.leaf.of = c
	return c, c.build()
}

// build makes the workers.
func (c *Collector) build() (err error) {
	c.memory = &memory{most: c.options.Memory}
	b := building{options: c.options, scored: &c.scored, memory: c.memory}
	if c.top, err = b.children(c.tree, nil); err != nil {
		return err
	}
	c.top.score(c.scored)
	return nil
}

// Prepare finds the fields in the indices that the search is about, in those without any
// document too. search.Run calls it; when it does so again, all begins anew. The error is
// an *exception.Error.
func (c *Collector) Prepare(all []search.Index) error {
	c.leaf, c.failed = leaf{of: c}, nil
	if err := c.build(); err != nil {
		return err
	}
	return c.top.prepare(all)
}

// Begin is for search.Run.
func (c *Collector) Begin(at search.Place) (search.Leaf, error) {
	if err := c.finish(); err != nil {
		return nil, err
	}
	c.leaf.open = true
	c.memory.stop = at.Context.Err
	return &c.leaf, c.top.begin(at)
}

// finish collects what is left of a view. Begin and AppendJSON call it: nobody else tells
// a collector that a view has ended.
func (c *Collector) finish() error {
	if !c.leaf.open {
		return c.failed
	}
	c.leaf.open = false
	c.failed = c.leaf.flush()
	if c.failed == nil {
		c.failed = c.top.end()
	}
	return c.failed
}

// Finish collects what is left of the last view, so that its mistakes are those of the
// search. AppendJSON would do it.
func (c *Collector) Finish() error { return segment.Guard(c.finish) }

// NeedsScores reports whether an aggregation needs the scores of documents.
func (c *Collector) NeedsScores() bool { return c.scored }

// AppendJSON appends the object of all results, as the server prints it; typed puts
// the types before names ("sterms#name"). Hits renders the hits of top_hits. What the
// search read must still be readable. The error is *segment.Damaged, or an
// *exception.Error: too many buckets.
func (c *Collector) AppendJSON(dst []byte, typed bool, hits Hits) ([]byte, error) {
	t := &telling{typed: typed, hits: hits, most: c.options.MaxBuckets}
	var inner error
	if err := segment.Guard(func() error {
		if inner = c.finish(); inner != nil {
			return inner
		}
		dst, inner = c.top.append(t, append(dst, '{'), 0)
		return inner
	}); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

// Hits appends the JSON of hits that top_hits found: the object that "hits" is. They are
// the objects of the nested field path, or documents where it is empty.
type Hits func(dst []byte, of *TopHits, path string, found search.Result) ([]byte, error)

// leaf gathers docs into blocks.
type leaf struct {
	of     *Collector
	open   bool
	docs   []segment.Doc
	scores []float32
}

var noBuckets [block]uint32

// Collect is for search.Run.
func (l *leaf) Collect(doc segment.Doc, score func() float32) error {
	l.docs = append(l.docs, doc)
	if l.of.scored {
		l.scores = append(l.scores, score())
	}
	if len(l.docs) < block {
		return nil
	}
	return l.flush()
}

// CollectDocs is for search.Run.
func (l *leaf) CollectDocs(docs []segment.Doc) error {
	if err := l.flush(); err != nil {
		return err
	}
	for len(docs) > 0 {
		n := min(len(docs), block)
		if err := l.of.top.collect(batch{docs: docs[:n], around: noBuckets[:n]}); err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}

// CollectAll is for search.Run.
func (l *leaf) CollectAll() (bool, error) {
	all := true
	for _, n := range l.of.top.nodes {
		w, ok := n.worker.(wholeWorker)
		n.whole = ok && w.whole()
		all = all && n.whole
	}
	return all, nil
}

func (l *leaf) flush() error {
	if len(l.docs) == 0 {
		return nil
	}
	err := l.of.top.collect(batch{docs: l.docs, around: noBuckets[:len(l.docs)], scores: l.scores})
	l.docs, l.scores = l.docs[:0], l.scores[:0]
	return err
}

// telling is the rendering of results.
type telling struct {
	typed   bool
	hits    Hits
	buckets int
	most    int
}

// bucket counts buckets that are told.
func (t *telling) bucket(n int) error {
	if t.buckets += n; t.buckets > t.most {
		return tooManyBuckets(t.most, t.buckets)
	}
	return nil
}

func tooManyBuckets(most, n int) error {
	return exception.New(exception.TooManyBuckets, "Trying to create too many buckets. Must be less than or equal to: [%d] but was [%d]. "+
		"This limit can be set by changing the [search.max_buckets] cluster level setting.", most, n).With("max_buckets", most)
}
