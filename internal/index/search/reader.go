package search

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// reader makes nodes of plans, for one view.
type reader struct {
	ctx       context.Context
	failed    *failure
	work      *work
	view      segment.View
	stats     *statistics // of the scored leaves
	number    int         // of the segment, among those of the statistics
	scope     *segment.Bits
	lead      int // about how many docs the nodes around find
	iterators *iterators
}

// failure is the first error of nodes at work. What they find afterwards is of no account. It is
// safe for concurrent use.
type failure struct{ err atomic.Pointer[error] }

func (f *failure) set(err error) { f.err.CompareAndSwap(nil, &err) }

// get is the error; nil: none.
func (f *failure) get() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

// newReader makes nodes for a view, of which only the docs of a scope are meant: what is
// found with no condition. Nil are all.
func (c *Context) newReader(w *work, q *ready, v segment.View, scope *segment.Bits) *reader {
	return &reader{
		ctx: c.ctx, failed: c.failed, work: w, view: v,
		stats: q.stats, number: q.stats.known.at[v.Number()], scope: scope, lead: math.MaxInt,
	}
}

// reusing lets the nodes take iterators of a pool. No node is used any more when the next view begins.
func (r *reader) reusing(s *iterators) *reader {
	r.iterators = s
	return r
}

// root makes the node of a whole plan.
func (r *reader) root(p plan, scored bool) (node, error) {
	n := r.node(p, scored)
	return n, r.failed.get()
}

// going reports whether what goes through many terms may go on, after so many.
func (r *reader) going(n int) bool {
	if n%4096 == 0 {
		if err := r.ctx.Err(); err != nil {
			r.failed.set(err)
		}
	}
	return r.failed.get() == nil
}

// filter makes a node without scores.
func (r *reader) filter(p plan) node { return r.node(p, false) }

// node makes a node; nil when nothing is found.
func (r *reader) node(p plan, scored bool) node {
	switch p := p.(type) {
	case allPlan:
		return r.all(p, scored)
	case nonePlan:
		return nil
	case *termPlan:
		return r.term(p, scored)
	case *constantPlan:
		of := r.filter(p.of)
		if !scored {
			return of
		}
		return newFixed(of, p.score)
	case *synonymsPlan, *phrasePlan, *phrasesPlan:
		return r.places(p, scored)
	case *boolPlan:
		return r.bool(p, scored)
	case *maxPlan:
		return newBest(r.nodes(p.of, scored), p.tie)
	case *boostingPlan:
		if !scored {
			return r.node(p.positive, false)
		}
		return newLowered(r.node(p.positive, true), r.filter(p.negative), p)
	case *nestedPlan:
		return r.nested(p, scored)
	case *functionPlan:
		return r.function(p, scored)
	case *namedPlan:
		return r.node(p.of, scored)
	}
	return r.unscored(p)
}

// unscored makes a node of a plan that has no scores.
func (r *reader) unscored(p plan) node {
	switch p := p.(type) {
	case *matchPlan:
		return r.match(p)
	case *numbersPlan:
		if f := r.view.Field(p.field.Name()); f != nil {
			return r.numbers(f, p.intervals)
		}
		return nil
	case *testPlan:
		return r.tested(p)
	case *termsPlan:
		return r.terms(p)
	case *wordsPlan:
		return r.accepted(p)
	case *idsPlan:
		return r.ids(p)
	case *existsPlan:
		return r.exists(p)
	}
	panic(fmt.Sprintf("search: a plan of %T", p))
}

// places makes the node of several terms of a field that are scored together.
func (r *reader) places(p plan, scored bool) node {
	var scores *bm25
	if scored {
		scores = r.stats.leaves[p].scores
	}
	switch p := p.(type) {
	case *synonymsPlan:
		return r.synonyms(p, scores)
	case *phrasesPlan:
		return r.phrases(p, scores)
	case *phrasePlan:
		if n := r.phrase(p.field, p.words, p.slop, scores); n != nil {
			return n
		}
	}
	return nil
}

// nodes makes those of several plans; nil ones too.
func (r *reader) nodes(plans []plan, scored bool) []node {
	nodes := make([]node, len(plans))
	for i, p := range plans {
		nodes[i] = r.node(p, scored)
	}
	return nodes
}

func (r *reader) all(p allPlan, scored bool) node {
	var n node
	if r.scope != nil {
		n = newSet(r.scope)
	} else {
		n = newEvery(r.view.Docs())
	}
	if !scored {
		return n
	}
	return newFixed(n, p.score)
}

// term makes the node of one term, which has been looked up if it is scored or there are many segments.
func (r *reader) term(p *termPlan, scored bool) node {
	f := r.view.Field(p.field)
	if f == nil {
		return nil
	}
	l := r.stats.leaves[p]
	if !scored && (l == nil || f.Spec().Postings == segment.NoPostings) {
		return r.lookup(f, p.term)
	}
	e := l.terms[0].entries[r.number]
	switch {
	case e.Docs == 0:
		return nil
	case scored:
		return newTerm(f, e, l.scores, r.iterators.take())
	}
	u := union{r: r, field: f}
	u.add(e)
	return u.node()
}

// bool combines nodes: what must be there, with what may be.
func (r *reader) bool(p *boolPlan, scored bool) node {
	defer func(lead int) { r.lead = lead }(r.lead)
	all, ok := r.required(slices.Concat(p.must, p.filter), len(p.must), scored)
	if !ok {
		return nil
	}
	must := slices.Clone(all[:len(p.must)])
	var n, optional node
	if scored || p.minShould > 0 {
		optional = newAny(r.nodes(p.should, scored), p.minShould)
	}
	switch {
	case len(all) == 0:
		n = optional
	case p.minShould == 0:
		n = newWith(newAll(all, scorers(must, scored), nil), optional)
	case optional == nil:
		return nil
	case len(must) == 0:
		n = newAll(append(all, optional), scorers([]node{optional}, scored), nil)
	case scored:
		n = newAll(append(all, optional), must, optional)
	default:
		n = newAll(append(all, optional), nil, nil)
	}
	if n == nil {
		return nil
	}
	r.lead = min(r.lead, n.cost())
	return newWithout(n, r.nodes(p.mustNot, false))
}

// required makes the nodes of plans that must all be found, of which the first few are
// scored; false when one finds nothing. What can be checked doc by doc is made last, when
// it is known how many docs there are.
func (r *reader) required(plans []plan, few int, scored bool) ([]node, bool) {
	nodes := make([]node, len(plans))
	for _, late := range []bool{false, true} {
		for i, p := range plans {
			if checkable(p) != late {
				continue
			}
			if nodes[i] = r.node(p, scored && i < few); nodes[i] == nil {
				return nil, false
			}
			r.lead = min(r.lead, nodes[i].cost())
		}
	}
	return nodes, true
}

// checkable reports whether a column may be asked for a plan.
func checkable(p plan) bool {
	switch p := p.(type) {
	case *constantPlan:
		return checkable(p.of)
	case *namedPlan:
		return checkable(p.of)
	case *matchPlan, *numbersPlan, *termsPlan, *wordsPlan:
		return true
	}
	return false
}

// scorers are nodes that have scores.
func scorers(nodes []node, scored bool) []node {
	if !scored {
		return nil
	}
	return nodes
}

// ids finds roots by id.
func (r *reader) ids(p *idsPlan) node {
	var docs []segment.Doc
	for _, id := range p.ids {
		for doc := range r.view.FindID(id) {
			for of := r.view.FirstChild(doc); of <= doc; of++ {
				docs = append(docs, of)
			}
		}
	}
	return newList(docs)
}

// exists finds docs that have any of some fields.
func (r *reader) exists(p *existsPlan) node {
	var nodes []node
	for _, name := range p.fields {
		f := r.view.Field(name)
		if f == nil {
			continue
		}
		set := f.Existing()
		if set == nil {
			return newEvery(r.view.Docs())
		}
		nodes = append(nodes, newSet(set))
	}
	return newAny(nodes, 1)
}
