package aggregate

import (
	"slices"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// worker is an aggregation at work. Its calls come in this order: prepare; for each view
// begin, collect as often as there are docs, end; then append, once a bucket.
type worker interface {
	// prepare finds the fields in all indices.
	prepare(all []search.Index) error
	// begin turns to a view.
	begin(at search.Place) error
	// collect takes docs, each for the bucket around it.
	collect(b batch) error
	// end is behind the last doc of a view.
	end() error
	// typed is the type of the result, as typed_keys tells it.
	typed() string
	// append appends the members of the result in a bucket around it.
	append(t *telling, dst []byte, around uint32) ([]byte, error)
}

// measured are workers whose results buckets around can be ordered by.
type measured interface {
	// measure finds what a key of the result means; "" is the only one there is.
	measure(key string) (func(bucket uint32) float64, bool)
}

// wholeWorker are workers that may know what all docs of a view count, when each is found
// once, in the one bucket around. When whole reports true, the docs are not collected.
type wholeWorker interface{ whole() bool }

// batch is some docs, each for one bucket: around[i] is that of docs[i]. A doc is there
// as often as it has buckets. Docs do not fall, but for those of nested fields.
type batch struct {
	docs   []segment.Doc
	around []uint32
	scores []float32 // nil: not needed
}

// node is an aggregation with its name.
type node struct {
	name   string
	meta   []byte
	kind   string
	of     Kind
	above  *node // nil: none
	subs   *children
	whole  bool // it needs no docs of the view
	memory *memory
	weight int64 // that the memory knows of
	worker
}

// children are the aggregations in one bucket, and the docs that wait for them.
type children struct {
	nodes   []*node // in the order of the request
	told    []*node // in the order in which the server tells them
	pending batch
	scored  bool
}

// building makes workers of a request.
type building struct {
	options Options
	scored  *bool
	memory  *memory
	depth   int
}

// maxDepth bounds how deep aggregations are nested: as deep as the parser of bodies goes,
// it would never be reached.
const maxDepth = 500

func (b building) children(tree []Aggregation, above *node) (*children, error) {
	c := &children{}
	if b.depth++; b.depth > maxDepth {
		return nil, exception.New(exception.IllegalArgument, "aggregations are nested too deep")
	}
	for i := range tree {
		n, err := b.node(&tree[i], above)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
	}
	c.told = slices.Clone(c.nodes)
	slices.Reverse(c.told) // computeIfAbsent puts keys before those that are in the same place
	table := 16
	for len(c.told)*4 > table*3 {
		table *= 2
	}
	slices.SortStableFunc(c.told, func(x, y *node) int { return java.Bucket(x.name, table) - java.Bucket(y.name, table) })
	return c, nil
}

// score says whether scores are needed.
func (c *children) score(needed bool) {
	c.scored = needed
	for _, n := range c.nodes {
		n.subs.score(needed)
	}
}

func (b building) node(a *Aggregation, above *node) (*node, error) {
	n := &node{name: a.Name, meta: a.Meta, kind: a.Kind.kind(), of: a.Kind, above: above, memory: b.memory}
	err := b.memory.node()
	if err != nil {
		return nil, err
	}
	if n.worker, err = b.worker(a, n); err != nil {
		return nil, err
	}
	n.subs, err = b.children(a.Subs, n)
	return n, err
}

// worker makes what works for a kind.
func (b building) worker(a *Aggregation, n *node) (worker, error) {
	s := single{n: n}
	switch k := a.Kind.(type) {
	case *Terms:
		return &termsWorker{n: n, of: k, options: b.options}, nil
	case *Histogram:
		return newHistogram(n, k, b.options), nil
	case *DateHistogram:
		return newDateHistogram(n, k, b.options), nil
	case *Ranges:
		return &rangesWorker{n: n, of: k, options: b.options}, nil
	case *AddressRanges:
		return newAddressRanges(n, k, b.options)
	case *Filter:
		return &filterWorker{single: s, of: k}, nil
	case *Filters:
		return &filtersWorker{n: n, of: k}, nil
	case *Missing:
		return &missingWorker{single: s, values: values{of: k.Values, now: b.options.Now}}, nil
	case *Global:
		return &globalWorker{single: s}, nil
	case *Nested:
		return &nestedWorker{single: s, of: k}, nil
	case *ReverseNested:
		return &reverseWorker{single: s, of: k}, nil
	case *Metric:
		return newMetric(n, k, b.options), nil
	case *WeightedAverage:
		return newWeightedAverage(n, k, b.options), nil
	case *Cardinality:
		return newCardinality(n, k, b.options), nil
	case *Percentiles:
		return newPercentiles(n, k, b.options), nil
	case *TopHits:
		return newTopHits(n, k, b.scored), nil
	case *GeoCentroid:
		return &geoCentroid{n: n, values: values{of: k.Values}}, nil
	case *Composite:
		return &compositeWorker{n: n, of: k, options: b.options}, nil
	}
	return nil, exception.New(exception.IllegalArgument, "[%s] aggregation is not supported by this version of reshelve", n.kind)
}

func (c *children) prepare(all []search.Index) error {
	for _, n := range c.nodes {
		if err := n.misplaced(); err != nil {
			return err
		}
		if err := n.subs.prepare(all); err != nil {
			return err
		}
		if err := n.prepare(all); err != nil {
			return err
		}
	}
	return nil
}

func (c *children) begin(at search.Place) error {
	for _, n := range c.nodes {
		n.whole = false
		if err := n.subs.begin(at); err != nil {
			return err
		}
		if err := n.begin(at); err != nil {
			return err
		}
		if err := n.memory.weigh(n); err != nil {
			return err
		}
	}
	return nil
}

// collect gives a batch to all.
func (c *children) collect(b batch) error {
	for _, n := range c.nodes {
		if n.whole {
			continue
		}
		if err := n.collect(b); err != nil {
			return err
		}
		if err := n.memory.weigh(n); err != nil {
			return err
		}
	}
	return nil
}

// add lets a doc of a batch wait for the aggregations in a bucket.
func (c *children) add(from *batch, i int32, bucket uint32) error {
	return c.put(from.docs[i], bucket, from, i)
}

// put is add for another doc, with the score of the one of the batch.
func (c *children) put(doc segment.Doc, bucket uint32, from *batch, i int32) error {
	if len(c.nodes) == 0 {
		return nil
	}
	p := &c.pending
	p.docs, p.around = append(p.docs, doc), append(p.around, bucket)
	if from.scores != nil {
		p.scores = append(p.scores, from.scores[i])
	}
	if len(p.docs) < block {
		return nil
	}
	return c.flush()
}

func (c *children) flush() error {
	p := c.pending
	if len(p.docs) == 0 {
		return nil
	}
	c.pending.docs, c.pending.around, c.pending.scores = p.docs[:0], p.around[:0], p.scores[:0]
	return c.collect(p)
}

func (c *children) end() error {
	if err := c.flush(); err != nil {
		return err
	}
	for _, n := range c.nodes {
		if err := n.end(); err != nil {
			return err
		}
		if err := n.subs.end(); err != nil {
			return err
		}
	}
	return nil
}

// append appends the results in a bucket as members of an object that is open. What is
// before must end with a bracket or a value.
func (c *children) append(t *telling, dst []byte, bucket uint32) ([]byte, error) {
	for _, n := range c.told {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		if t.typed {
			dst = append(append(dst, n.typed()...), '#')
		}
		quoted := token.AppendString(nil, []byte(n.name))
		dst = append(append(dst, quoted[1:]...), ":{"...)
		if n.meta != nil {
			dst = append(append(dst, `"meta":`...), n.meta...)
		}
		var err error
		if dst, err = n.append(t, dst, bucket); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return dst, nil
}

// member begins a member of an object that is open.
func member(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' && dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}
