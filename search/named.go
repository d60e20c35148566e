package search

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/java"
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

// namesOf are the named parts of the queries for an index. The server keeps them in a map
// of Java, whose order its answers have; of one name the last counts.
func namesOf(w *work) (parts []namedPart) {
	table := 0
	for _, q := range []*ready{w.query, w.post} {
		if q == nil {
			continue
		}
		eachNamed(q.told, func(p *namedPlan) {
			part := namedPart{p.name, ready{plan: p.of, stats: gatherStatistics(w.views, p.of, false)}}
			if i := slices.IndexFunc(parts, func(o namedPart) bool { return o.name == p.name }); i >= 0 {
				parts[i] = part
				return
			}
			parts = append(parts, part)
		})
		if table == 0 {
			for table = 1; table < int(float64(len(parts))/0.75+1); table *= 2 {
			}
		}
	}
	for float64(len(parts)) > 0.75*float64(table) {
		table *= 2
	}
	slices.SortStableFunc(parts, func(a, b namedPart) int {
		return cmp.Compare(java.Bucket(a.name, table), java.Bucket(b.name, table))
	})
	return parts
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
		all(p.filter)
		all(p.should)
		all(p.mustNot)
	case *constantPlan:
		eachNamed(p.of, yield)
	case *maxPlan:
		all(p.of)
	case *boostingPlan:
		all([]plan{p.positive, p.negative})
	case *nestedPlan:
		eachNamed(p.of, yield)
	case *functionPlan:
		eachNamed(p.of, yield)
		all(p.filter)
	}
}

// tell tells the hits which parts found them.
func (n *namer) tell(hits []Hit) error {
	for i := range hits {
		h := &hits[i]
		v := n.c.indices[h.Index].Sources[h.Source].Views[h.View]
		for _, part := range n.parts[h.Index] {
			found, err := n.c.newReader(n.c.work[h.Index], &part.ready, v, shownRoots(v)).root(part.plan, false)
			if err != nil {
				return err
			}
			if found != nil && has(found, h.Doc) {
				h.Matched = append(h.Matched, part.name)
			}
		}
	}
	return n.c.failed.err
}
