package search

import (
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// nestedKey says which nested objects of a document count for a key.
type nestedKey struct {
	c      *Context
	work   *work
	path   string
	most   int // 0: all
	filter *ready
	around *nestedKey // which objects around; nil: the documents
	of     string     // the nested field whose objects are sorted; "": documents
}

// nestedKey works it out for an index: the innermost path counts.
func (c *Context) nestedKey(i int, n *NestedSort) (*nestedKey, error) {
	var k *nestedKey
	for ; n != nil; n = n.Nested {
		index := &c.indices[i]
		if _, ok := index.Schema.Nested(n.Path); !ok {
			return nil, exception.New(exception.QueryShard, "[nested] failed to find nested object under path [%s]", n.Path).
				With("index", index.Name).With("index_uuid", index.UUID)
		}
		k = &nestedKey{c: c, work: c.work[i], path: n.Path, most: n.MaxChildren, around: k, of: c.around}
		if n.Filter != nil {
			var err error
			if k.filter, err = c.readyIn(k.work, n.Path, n.Filter); err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// children are the objects of a view that count.
type children struct {
	view segment.View
	set  *segment.Bits
	most int
	of   *segment.Bits // the objects that are sorted; nil: documents
}

// in finds them in a view; nil when documents themselves count.
func (k *nestedKey) in(v segment.View) (*children, error) {
	if k == nil {
		return nil, nil
	}
	set, err := k.objects(v)
	c := &children{view: v, set: set, most: k.most}
	if k.of != "" {
		c.of = k.c.newReader(k.work, k.ready(), v, nil).objects(k.of)
	}
	return c, err
}

// objects are the ones that count.
func (k *nestedKey) objects(v segment.View) (*segment.Bits, error) {
	r := k.c.newReader(k.work, k.ready(), v, nil)
	all := r.objects(k.path)
	if all == nil {
		return segment.NewBits(v.Docs()), nil
	}
	set := all.Clone()
	if k.filter != nil {
		r.scope = all
		n, err := r.root(k.filter.plan, false)
		if err != nil {
			return nil, err
		}
		for d := all.Next(0); d != end; d = all.Next(d + 1) {
			if n == nil || !has(n, d) {
				set.Clear(d)
			}
		}
	}
	if k.around == nil {
		return set, nil
	}
	return k.within(v, r, set)
}

// ready is the filter, or what finds nothing.
func (k *nestedKey) ready() *ready {
	if k.filter != nil {
		return k.filter
	}
	return &ready{plan: nonePlan{}, stats: gatherStatistics(nil, nonePlan{}, false)}
}

// within keeps the objects whose objects around count too.
func (k *nestedKey) within(v segment.View, r *reader, set *segment.Bits) (*segment.Bits, error) {
	counts, err := k.around.objects(v)
	if err != nil {
		return nil, err
	}
	around := r.objects(k.around.path)
	for d := set.Next(0); d != end; d = set.Next(d + 1) {
		if around == nil {
			set.Clear(d)
		} else if of := around.Next(d); of == end || !counts.Has(of) {
			set.Clear(d)
		}
	}
	return set, nil
}

// each yields the objects of a document, or of an object, that count.
func (c *children) each(root segment.Doc, yield func(segment.Doc)) {
	n, first := 0, c.view.FirstChild(c.view.Root(root))
	if c.of != nil {
		first = max(first, behind(c.of, root))
	}
	for d := c.set.Next(first); d < root; d = c.set.Next(d + 1) {
		yield(d)
		if n++; n == c.most {
			return
		}
	}
}
