package search

import (
	"bytes"
	"reflect"
	"slices"
)

// simplify puts a plan into the form into which Lucene's queries rewrite themselves before
// they are run (classes BooleanQuery and DisjunctionMaxQuery of version 9.12). It finds the
// same, but in fewer and wider sums: scores are rounded to 32 bits once for each sum, so
// their last digits depend on it.
func simplify(p plan) plan {
	switch p := p.(type) {
	case *namedPlan:
		return simplify(p.of)
	case *boolPlan:
		return simplifyBool(p)
	case *maxPlan:
		return simplifyMax(p)
	case *constantPlan:
		return &constantPlan{simplify(p.of), p.score}
	case *boostingPlan:
		return &boostingPlan{simplify(p.positive), simplify(p.negative), p.factor, p.boost}
	case *nestedPlan:
		c := *p
		c.of = simplify(p.of)
		return &c
	case *functionPlan:
		c := *p
		c.of, c.filter = simplify(p.of), slices.Clone(p.filter)
		for i, f := range c.filter {
			if f != nil {
				c.filter[i] = simplify(f)
			}
		}
		return &c
	}
	return p
}

func simplifyAll(plans []plan) []plan {
	out := make([]plan, len(plans))
	for i, p := range plans {
		out[i] = simplify(p)
	}
	return out
}

// simplifyMax makes a sum of a maximum in which all scores count fully.
func simplifyMax(p *maxPlan) plan {
	of := slices.DeleteFunc(simplifyAll(p.of), isNone)
	switch {
	case len(of) == 0:
		return nonePlan{}
	case len(of) == 1:
		return boosted1(of[0], p.boosted)
	case p.tie == 1:
		return simplifyBool(&boolPlan{should: of, minShould: 1, boosted: p.boosted})
	}
	return &maxPlan{of: of, tie: p.tie, boosted: p.boosted}
}

func isNone(p plan) bool { return p == nonePlan{} }

// boosted1 is a plan that stands alone in one that may have a boost of its own.
func boosted1(p plan, boosted bool) plan {
	if b, ok := p.(*boolPlan); ok && boosted && !b.boosted {
		c := *b
		c.boosted = true
		return &c
	}
	return p
}

func simplifyBool(p *boolPlan) plan {
	b := &boolPlan{
		must: simplifyAll(p.must), filter: simplifyAll(p.filter), should: simplifyAll(p.should),
		mustNot: slices.DeleteFunc(simplifyAll(p.mustNot), isNone), minShould: p.minShould, boosted: p.boosted,
	}
	b.should = slices.DeleteFunc(b.should, isNone)
	if slices.ContainsFunc(b.must, isNone) || slices.ContainsFunc(b.filter, isNone) || len(b.should) < b.minShould {
		return nonePlan{}
	}
	b.inline()
	b.required()
	b.must = joined(b.must)
	if b.minShould <= 1 {
		b.should = joined(b.should)
	}
	if n := len(b.should); n > 0 && n == b.minShould {
		b.must, b.should, b.minShould = joined(append(b.must, b.should...)), nil, 0
	}
	return b.alone()
}

// alone is what a single scored part says already.
func (b *boolPlan) alone() plan {
	switch {
	case len(b.filter)+len(b.mustNot) > 0 || len(b.must)+len(b.should) != 1:
		return b
	case len(b.must) == 1:
		return boosted1(b.must[0], b.boosted)
	}
	return boosted1(b.should[0], b.boosted)
}

// inline takes the parts of optional parts that are sums of optional parts themselves, as
// far as they have no boost of their own.
func (b *boolPlan) inline() {
	if b.minShould > 1 {
		return
	}
	var should []plan
	for _, p := range b.should {
		if inner, ok := p.(*boolPlan); ok && !inner.boosted && inner.minShould <= 1 && len(inner.must)+len(inner.filter)+len(inner.mustNot) == 0 {
			should = append(should, inner.should...)
			continue
		}
		should = append(should, p)
	}
	b.should = should
}

// required makes what is both a filter and optional something that must be found and counts.
func (b *boolPlan) required() {
	for _, f := range slices.Clone(b.filter) {
		bare, _ := unboosted(f)
		key := sameAs(bare)
		same := func(p plan) bool { return sameAs(p) == key }
		n := len(b.should)
		if b.should = slices.DeleteFunc(b.should, same); len(b.should) == n {
			continue
		}
		for range n - len(b.should) {
			b.must, b.minShould = append(b.must, bare), max(0, b.minShould-1)
		}
		b.filter = slices.DeleteFunc(b.filter, func(p plan) bool {
			bare, _ := unboosted(p)
			return same(bare)
		})
	}
}

// ownBoost marks a plan that has a boost beside those of the queries around it.
func ownBoost(p plan, boost float32) plan {
	if boost == 1 {
		return p
	}
	switch p := p.(type) {
	case *boolPlan:
		p.boosted = true
	case *maxPlan:
		p.boosted = true
	}
	return p
}

// joined makes one of parts that are the same, with the sum of their boosts.
func joined(plans []plan) []plan {
	if len(plans) < 2 {
		return plans
	}
	var out, bares []plan
	at, times := map[string][]int{}, map[int]float64{}
	for _, p := range plans {
		bare, boost := unboosted(p)
		key := sameAs(bare)
		same := slices.IndexFunc(at[key], func(i int) bool { return same(bares[i], bare) })
		if same < 0 {
			same = len(at[key])
			at[key], out, bares = append(at[key], len(out)), append(out, p), append(bares, bare)
		}
		times[at[key][same]] += boost
	}
	if len(out) == len(plans) {
		return plans
	}
	for i, p := range out {
		if bare, boost := unboosted(p); times[i] != boost {
			out[i] = scaled(bare, float32(times[i]))
		}
	}
	return out
}

// sameAs is a text that plans which find the same share. A term is the same however rare it
// counts as being; the first one says that.
func sameAs(bare plan) string {
	if t, ok := bare.(*termPlan); ok {
		c := *t
		c.blend = nil
		return describe(&c)
	}
	return describe(bare)
}

// same reports whether two plans, which read alike, find the same: they need not.
func same(a, b plan) bool {
	t, is := a.(*termPlan)
	u, also := b.(*termPlan)
	if is && also {
		return t.field == u.field && bytes.Equal(t.term, u.term)
	}
	return reflect.DeepEqual(a, b)
}

// unboosted parts a leaf from its boost. What is no leaf has the boost 1.
func unboosted(p plan) (plan, float64) {
	switch p := p.(type) {
	case allPlan:
		return allPlan{1}, float64(p.score)
	case *constantPlan:
		return &constantPlan{p.of, 1}, float64(p.score)
	case *termPlan:
		c := *p
		c.boost = 1
		return &c, float64(p.boost)
	case *synonymsPlan:
		c := *p
		c.boost = 1
		return &c, float64(p.boost)
	case *phrasePlan:
		c := *p
		c.boost = 1
		return &c, float64(p.boost)
	}
	return p, 1
}

// scaled multiplies the scores of a plan.
func scaled(p plan, by float32) plan {
	all := func(plans []plan) []plan {
		out := make([]plan, len(plans))
		for i, p := range plans {
			out[i] = scaled(p, by)
		}
		return out
	}
	switch p := p.(type) {
	case allPlan:
		return allPlan{p.score * by}
	case *constantPlan:
		return &constantPlan{p.of, p.score * by}
	case *termPlan:
		c := *p
		c.boost *= by
		return &c
	case *synonymsPlan:
		c := *p
		c.boost *= by
		return &c
	case *phrasePlan:
		c := *p
		c.boost *= by
		return &c
	case *phrasesPlan:
		c := *p
		c.boost *= by
		return &c
	case *boolPlan:
		return &boolPlan{must: all(p.must), filter: p.filter, should: all(p.should), mustNot: p.mustNot, minShould: p.minShould, boosted: true}
	case *maxPlan:
		return &maxPlan{of: all(p.of), tie: p.tie, boosted: true}
	}
	return scaledOther(p, by)
}

func scaledOther(p plan, by float32) plan {
	switch p := p.(type) {
	case *boostingPlan:
		return &boostingPlan{p.positive, p.negative, p.factor, p.boost * by}
	case *nestedPlan:
		c := *p
		c.of = scaled(p.of, by)
		return &c
	case *functionPlan:
		c := *p
		c.of = scaled(p.of, by)
		return &c
	}
	return p
}
