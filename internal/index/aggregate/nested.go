package aggregate

import (
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// scope is the nested field whose objects the docs of an aggregation are; "": documents.
func (n *node) scope() string {
	for ; n != nil; n = n.above {
		switch k := n.of.(type) {
		case *Nested:
			return k.Path
		case *ReverseNested:
			return k.Path
		}
	}
	return ""
}

// objects are the docs of a view that are objects of a nested field; nil: there are none.
func objects(at search.Place, path string) *segment.Bits {
	if _, ok := at.Context.Index(at.Index).Schema.Nested(path); !ok {
		return nil
	}
	f := at.View.Field("_nested_path")
	if f == nil {
		return nil
	}
	e, ok := f.Lookup([]byte(path))
	if !ok {
		return nil
	}
	set := segment.NewBits(at.View.Docs())
	p := f.Postings(e, segment.Docs, nil)
	for doc := p.Next(); doc != segment.End; doc = p.Next() {
		set.Set(doc)
	}
	return set
}

// nestedWorker is nested: from docs to the objects of a nested field in them.
type nestedWorker struct {
	single
	of *Nested

	view    segment.View
	objects *segment.Bits // nil: none
	outer   *segment.Bits // what the docs that are collected are; nil: roots

	// beside: the docs that are collected are objects that have none of these. All objects of
	// their document are meant; as on the server, each is counted for the first doc.
	beside      bool
	from, below segment.Doc // of last: its objects
	last        segment.Doc
}

func (w *nestedWorker) begin(at search.Place) error {
	w.view, w.objects, w.outer, w.beside = at.View, objects(at, w.of.Path), nil, false
	if scope := w.n.above.scope(); scope != "" {
		w.outer = objects(at, scope)
		w.beside = !holds(at.Context.Index(at.Index).Schema, scope, w.of.Path)
	}
	w.from, w.below, w.last = 0, 0, segment.End
	return nil
}

// holds reports whether a nested field is somewhere below another one.
func holds(schema *fields.Schema, outer, path string) bool {
	for path != "" && path != outer {
		path = schema.NestedAround(path)
		if path == outer {
			return true
		}
	}
	return false
}

// collect goes from each doc to the objects that are before it, up to the doc before it
// that is not part of it.
func (w *nestedWorker) collect(b batch) error {
	if w.objects == nil {
		return nil
	}
	for i, doc := range b.docs {
		from, below := w.reach(doc)
		for object := w.objects.Next(from); object < below; object = w.objects.Next(object + 1) {
			w.count.add(b.around[i], 1)
			if err := w.n.subs.put(object, b.around[i], &b, int32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// reach is where the objects of a doc are.
func (w *nestedWorker) reach(doc segment.Doc) (from, below segment.Doc) {
	if !w.beside {
		return w.first(doc), doc
	}
	if doc != w.last {
		root := w.view.Root(doc)
		w.last, w.from, w.below = doc, max(w.below, w.view.FirstChild(root)), root
	}
	return w.from, w.below
}

// first is the first doc that is part of another, or else the other.
func (w *nestedWorker) first(doc segment.Doc) segment.Doc {
	first := w.view.FirstChild(w.view.Root(doc))
	if w.outer == nil {
		return first
	}
	for ; doc > first; doc-- {
		if w.outer.Has(doc - 1) {
			break
		}
	}
	return doc
}

// reverseWorker is reverse_nested: from objects to what they are part of.
type reverseWorker struct {
	single
	of *ReverseNested

	view segment.View
	to   *segment.Bits // the objects of the path; nil: roots
	none bool
	last []segment.Doc // of each bucket, the doc that was counted last, + 1
}

func (w *reverseWorker) begin(at search.Place) error {
	w.view, w.to, w.none = at.View, nil, false
	clear(w.last)
	if w.of.Path != "" {
		w.to = objects(at, w.of.Path)
		w.none = w.to == nil
	}
	return nil
}

func (w *reverseWorker) collect(b batch) error {
	if w.none {
		return nil
	}
	for i, doc := range b.docs {
		parent := w.view.Root(doc)
		if w.to != nil {
			if parent = w.to.Next(doc); parent == segment.End {
				continue
			}
		}
		bucket := b.around[i]
		if int(bucket) >= len(w.last) {
			w.last = grown(w.last, int(bucket)+1)
		}
		if w.last[bucket] == parent+1 {
			continue // once a bucket
		}
		w.last[bucket] = parent + 1
		w.count.add(bucket, 1)
		if err := w.n.subs.put(parent, bucket, &b, int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// misplaced refuses aggregations where the server does.
func (n *node) misplaced() error {
	switch n.of.(type) {
	case *Global:
		if n.above != nil {
			return exception.New(exception.AggregationExecution, "Aggregation [%s] cannot have a global sub-aggregation [%s]. "+
				"Global aggregations can only be defined as top level aggregations", n.above.name, n.name)
		}
	case *ReverseNested:
		for above := n.above; above != nil; above = above.above {
			if _, ok := above.of.(*Nested); ok {
				return nil
			}
		}
		return exception.New(exception.IllegalArgument, "Reverse nested aggregation [%s] can only be used inside a [nested] aggregation", n.name)
	case *Composite:
		for above := n.above; above != nil; above = above.above {
			if _, ok := above.worker.(singleBucket); !ok {
				return exception.New(exception.IllegalArgument, "[composite] aggregation cannot be used with a parent aggregation of type: [%s]", factory(n.above.of))
			}
		}
	}
	return nil
}

// factory is how the server calls what makes an aggregation.
func factory(k Kind) string {
	switch k.(type) {
	case *Terms:
		return "TermsAggregatorFactory"
	case *Histogram:
		return "HistogramAggregatorFactory"
	case *DateHistogram:
		return "DateHistogramAggregatorFactory"
	case *Ranges:
		return "RangeAggregatorFactory"
	case *AddressRanges:
		return "BinaryRangeAggregatorFactory"
	case *Filters:
		return "FiltersAggregatorFactory"
	}
	return k.kind()
}
