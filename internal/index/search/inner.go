package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// Objects finds the objects of a nested field in documents that were found: what
// inner_hits asks for. Not safe for concurrent use.
type Objects struct {
	c     *Context
	w     *work
	query *ready
	path  string
	sets  map[setOf]*segment.Bits
	names *namer // nil: no part has a name
}

// setOf names the objects of a nested field in a view.
type setOf struct {
	segment *segment.Segment
	hidden  *segment.Bits
	path    string
}

// Step is a nested object in what is around it: the field, by its name there, and the
// number of the object among those of that field, from 0.
type Step struct {
	Field  string
	Offset int
}

// NewObjects works out what a nested query looks for in an index. Of r the order, Size
// and Now count. The error is that of Run.
func NewObjects(ctx context.Context, index *Index, q *Nested, r Request) (*Objects, error) {
	r.Query, r.TrackTotal = q.Query, -1
	c := &Context{ctx: ctx, request: &r, indices: []Index{*index}, failed: new(failure)}
	o := &Objects{c: c, path: q.Path, sets: map[setOf]*segment.Bits{}}
	o.w = &work{index: &c.indices[0], views: index.views()}
	err := segment.Guard(func() (err error) {
		o.query, err = c.make(compiler{views: o.w.views, around: q.Path}, o.w, q.Query, true)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.w.query = o.query
	c.work = []*work{o.w}
	o.names = c.names()
	return o, nil
}

// Of finds the objects of a hit: of a document, or of an object of another nested field,
// whose path is around. Ties come in the order of the objects.
func (o *Objects) Of(h *Hit, around string) (r Result, err error) {
	err = segment.Guard(func() (err error) {
		if r, err = o.of(h, around); err == nil {
			err = o.named(r.Hits, h.Index)
		}
		return err
	})
	return r, err
}

// named tells objects of an index which named parts found them.
func (o *Objects) named(hits []Hit, index int) (err error) {
	if o.names != nil {
		for i := range hits {
			hits[i].Index = 0 // the only one here
		}
		err = o.names.tell(hits)
		for i := range hits {
			hits[i].Index = index
		}
	}
	return err
}

func (o *Objects) of(h *Hit, around string) (Result, error) {
	view := o.view(h)
	objects := o.set(view, o.path)
	if objects == nil {
		return Result{Scored: true}, nil
	}
	n, err := o.c.newReader(o.w, o.query, view, objects).root(o.query.plan, true)
	if err != nil || n == nil {
		return Result{Scored: true}, err
	}
	var docs []segment.Doc
	var scores []float32
	at(n, o.first(view, h.Doc, around))
	for d := n.doc(); d < h.Doc; d = n.next() {
		if objects.Has(d) && n.matches() {
			docs, scores = append(docs, d), append(scores, n.score())
		}
	}
	if err := o.c.failed.get(); err != nil || len(docs) == 0 {
		return Result{Scored: true}, err
	}
	return o.ranked(h, view, docs, scores)
}

func (o *Objects) view(h *Hit) segment.View { return o.c.indices[0].Sources[h.Source].Views[h.View] }

// ranked puts objects into their order.
func (o *Objects) ranked(h *Hit, view segment.View, docs []segment.Doc, scores []float32) (Result, error) {
	r := o.c.request
	best := slices.Max(scores)
	result := Result{Total: int64(len(docs)), MaxScore: &best, Scored: true}
	if len(r.Sort) > 0 {
		err := o.sorted(&result, h, view, docs, scores)
		return result, err
	}
	order := make([]int, len(docs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order[:min(r.Size, len(order))] {
		one := *h
		one.Doc, one.Score, one.Sort, one.Matched = docs[i], scores[i], nil, nil
		result.Hits = append(result.Hits, one)
	}
	return result, nil
}

func (o *Objects) sorted(into *Result, h *Hit, view segment.View, docs []segment.Doc, scores []float32) error {
	rank, err := o.c.sorted()
	if err != nil {
		return err
	}
	s := rank.(*sortedHits)
	s.size = math.MaxInt
	if err := s.begin(0, &visited{source: h.Source, at: h.View, number: o.w.index.Number, view: view}); err != nil {
		return err
	}
	if err := s.take(docs, scores); err != nil {
		return err
	}
	slices.SortFunc(s.kept, func(a, b placed) int { return cmp.Or(s.comparePlaced(&a, &b), cmp.Compare(a.doc, b.doc)) })
	s.kept = s.kept[:min(o.c.request.Size, len(s.kept))]
	into.Hits, err = s.hits()
	for i := range into.Hits {
		into.Hits[i].Index = h.Index
	}
	into.Scored = slices.ContainsFunc(o.c.request.Sort, byItsScore)
	return err
}

// set are the objects of a nested field that a view shows; nil: none.
func (o *Objects) set(v segment.View, path string) *segment.Bits {
	key := setOf{v.Segment, v.Hidden, path}
	set, ok := o.sets[key]
	if !ok {
		set = o.c.newReader(o.w, o.query, v, nil).objects(path)
		o.sets[key] = set
	}
	return set
}

// first is where the objects of a document, or of an object around, begin.
func (o *Objects) first(v segment.View, doc segment.Doc, around string) segment.Doc {
	first := v.FirstChild(v.Root(doc))
	if around == "" {
		return first
	}
	return max(first, behind(o.set(v, around), doc))
}

// Steps tells which object of its document one is, outermost first. All that is around
// the field must be nested fields.
func (o *Objects) Steps(h *Hit) (steps []Step, err error) {
	err = segment.Guard(func() error {
		steps = o.steps(o.view(h), h.Doc)
		return nil
	})
	return steps, err
}

func (o *Objects) steps(v segment.View, doc segment.Doc) (steps []Step) {
	for path := o.path; path != ""; {
		around := o.w.index.Schema.NestedAround(path)
		parent := v.Root(doc)
		if around != "" {
			parent = o.set(v, around).Next(doc)
		}
		set, offset := o.set(v, path), 0
		for d := set.Next(o.first(v, parent, around)); d < doc; d = set.Next(d + 1) {
			offset++
		}
		name := path
		if around != "" {
			name = strings.TrimPrefix(path, around+".")
		}
		steps = append(steps, Step{name, offset})
		path, doc = around, parent
	}
	slices.Reverse(steps)
	return steps
}

// Inners are the nested queries of a tree that ask for inner_hits, without those below
// them, and without what must not be found.
func Inners(q Query) (list []*Nested) {
	all := func(queries ...Query) {
		for _, q := range queries {
			list = append(list, Inners(q)...)
		}
	}
	switch q := q.(type) {
	case *Bool:
		all(q.Must...)
		all(q.Filter...)
		all(q.Should...)
	case *ConstantScore:
		all(q.Filter)
	case *DisjunctionMax:
		all(q.Queries...)
	case *Boosting:
		all(q.Positive, q.Negative)
	case *Wrapped:
		all(q.Query, q.Filter)
	case *FunctionScore:
		all(q.Query)
	case *Nested:
		if q.Inner != nil {
			return []*Nested{q}
		}
		all(q.Query)
	}
	return list
}
