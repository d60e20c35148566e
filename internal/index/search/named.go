package search

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// namer tells which named parts of a query find hits.
type namer struct {
	c     *Context
	parts map[int][]namedPart // of each index
}

type namedPart struct {
	name string
	ready
}

// named is names, worked out once.
func (c *Context) named() *namer {
	if !c.asked {
		c.asked, c.known = true, c.names()
	}
	return c.known
}

// names finds the named parts of the queries of all indices; nil when there are none.
func (c *Context) names() *namer {
	n := &namer{c: c, parts: map[int][]namedPart{}}
	for i, w := range c.work {
		if parts := namesOf(w); len(parts) > 0 {
			n.parts[i] = parts
		}
	}
	if len(n.parts) == 0 {
		return nil
	}
	return n
}

// namesOf are the named parts of the queries for an index. The server keeps them in maps of
// Java, one after the other, whose order its answers have.
func namesOf(w *work) (parts []namedPart) {
	first := 0
	for _, q := range []*ready{w.query, w.post} {
		if q == nil {
			continue
		}
		var some []namedPart
		eachNamed(q.told, func(p *namedPlan) {
			part := namedPart{p.name, ready{plan: p.of, stats: gatherStatistics(w.views, p.of, false)}}
			if i := slices.IndexFunc(some, func(o namedPart) bool { return o.name == p.name }); i >= 0 {
				some[i] = part // of one name the last counts
				return
			}
			some = append(some, part)
		})
		hashed(some, tableOf(16, len(some)), nameOf)
		copied := 1
		for copied < int(float64(len(some))/0.75+1) {
			copied *= 2
		}
		hashed(some, copied, nameOf)
		if parts = append(parts, some...); first == 0 {
			first = copied
		}
	}
	hashed(parts, tableOf(max(first, 1), len(parts)), nameOf)
	return parts
}

func nameOf(p namedPart) string { return p.name }

// tableOf is the size of the table of a HashMap that had one size and has so many entries.
func tableOf(size, entries int) int {
	for float64(entries) > 0.75*float64(size) {
		size *= 2
	}
	return size
}

// hashed puts what was put into a HashMap into the order in which it is given back.
func hashed[T any](list []T, table int, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Compare(java.Bucket(name(a), table), java.Bucket(name(b), table))
	})
}

// eachNamed yields the named parts of a plan, inner ones first.
func eachNamed(p plan, yield func(*namedPlan)) {
	all := func(plans []plan) {
		for _, p := range plans {
			eachNamed(p, yield)
		}
	}
	switch p := p.(type) {
	case *namedPlan:
		eachNamed(p.of, yield)
		yield(p)
	case *boolPlan:
		all(p.must)
		all(p.mustNot)
		all(p.should)
		all(p.filter)
	case *constantPlan:
		eachNamed(p.of, yield)
	case *maxPlan:
		all(p.of)
	case *boostingPlan:
		all([]plan{p.positive, p.negative})
	case *nestedPlan:
		eachNamed(p.of, yield)
	case *functionPlan:
		all(p.filter)
		eachNamed(p.of, yield)
	}
}

// tell tells the hits which parts found them.
func (n *namer) tell(hits []Hit) error {
	for i := range hits {
		h := &hits[i]
		v := n.c.indices[h.Index].Sources[h.Source].Views[h.View]
		for _, part := range n.parts[h.Index] {
			scope := shownRoots(v)
			if !v.IsRoot(h.Doc) {
				scope = nil
			}
			found, err := n.c.newReader(n.c.work[h.Index], &part.ready, v, scope).root(part.plan, false)
			if err != nil {
				return err
			}
			if found != nil && has(found, h.Doc) {
				h.Matched = append(h.Matched, part.name)
			}
		}
		hashed(h.Matched, tableOf(16, len(h.Matched)), func(name string) string { return name })
	}
	return n.c.failed.get()
}
