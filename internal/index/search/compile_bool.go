package search

import (
	"cmp"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// compound makes plans of the queries that combine others.
func (c *compiler) compound(q Query, boost float32) (plan, error) {
	switch q := q.(type) {
	case *Bool:
		return c.boolean(q, boost)
	case *ConstantScore:
		of, err := c.unscored().query(q.Filter, 1)
		return &constantPlan{of, boost}, err
	case *DisjunctionMax:
		parts, err := c.all(q.Queries, boost)
		return &maxPlan{of: parts, tie: q.TieBreaker}, err
	case *Boosting:
		positive, err := c.query(q.Positive, 1)
		if err != nil {
			return nil, err
		}
		negative, err := c.unscored().query(q.Negative, 1)
		return &boostingPlan{positive, negative, q.NegativeBoost, boost}, err
	case *Wrapped:
		of, err := c.query(q.Query, boost)
		if err != nil || q.Filter == nil {
			return of, err
		}
		filter, err := c.unscored().query(q.Filter, 1)
		return &boolPlan{must: []plan{of}, filter: []plan{filter}}, err
	}
	panic("search: not a compound query")
}

// all makes the plans of several queries. The error is the first one, or one that is told
// before all others.
func (c *compiler) all(queries []Query, boost float32) ([]plan, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	plans := make([]plan, len(queries))
	var failed error
	for i, q := range queries {
		p, err := c.query(q, boost)
		if isEarly(err) {
			return nil, err
		}
		failed, plans[i] = cmp.Or(failed, err), p
	}
	return plans, failed
}

func (c *compiler) boolean(q *Bool, boost float32) (plan, error) {
	if n := len(q.Must) + len(q.Filter) + len(q.Should) + len(q.MustNot); n == 0 {
		return allPlan{boost}, nil
	} else if err := c.countClauses(n); err != nil {
		return nil, err
	}
	p, err := c.parts(q, boost)
	switch {
	case nothing(q, nil): // before the parts, and their names, are looked at
		return nonePlan{}, nil
	case isEarly(err):
		return nil, err
	case nothing(q, c):
		return nonePlan{}, nil
	case err != nil:
		return nil, err
	}
	if err := setMinimum(p, q.MinimumShould); err != nil {
		return nil, err
	}
	if len(p.must)+len(p.filter)+len(p.should) == 0 {
		if !q.AdjustPureNegative {
			return nonePlan{}, nil
		}
		p.filter, p.minShould = []plan{allPlan{0}}, 0
	}
	return p, nil
}

// parts makes the plans of all parts of a bool. The error is the first one, or one that is
// told before all others.
func (c *compiler) parts(q *Bool, boost float32) (p *boolPlan, failed error) {
	p = &boolPlan{}
	for _, part := range []struct {
		into  *[]plan
		from  []Query
		boost float32
		count bool // towards the score
	}{{&p.must, q.Must, boost, true}, {&p.mustNot, q.MustNot, 1, false}, {&p.should, q.Should, boost, true}, {&p.filter, q.Filter, 1, false}} {
		of := c
		if !part.count {
			of = c.unscored()
		}
		plans, err := of.all(part.from, part.boost)
		if isEarly(err) {
			return nil, err
		}
		failed, *part.into = cmp.Or(failed, err), plans
	}
	return p, failed
}

// countClauses refuses more clauses of one query than the limit.
func (c *compiler) countClauses(n int) error {
	if limit := orDefault(c.limits.Clauses, defaultClauses); n > limit {
		return exception.New(exception.TooManyClauses, "maxClauseCount is set to %d", limit)
	}
	return nil
}

// setMinimum works out minimum_should_match; without it one of should must be found when
// there is nothing else that must.
func setMinimum(p *boolPlan, spec string) error {
	if spec != "" {
		n, err := minimumOf(len(p.should), spec)
		if err != nil {
			return err
		}
		p.minShould = n
	}
	if p.minShould == 0 && len(p.must)+len(p.filter) == 0 && len(p.should) > 0 {
		p.minShould = 1
	}
	return nil
}

// minimumOf is how many of n optional clauses a text of minimum_should_match asks for:
// "2", "-1", "75%", "-25%", or conditions "2<75% 9<-3", each for more than so many.
func minimumOf(n int, spec string) (int, error) {
	spec = strings.TrimSpace(spec)
	if !strings.Contains(spec, "<") {
		return simpleMinimum(n, spec)
	}
	result := n
	for _, condition := range strings.Fields(tightenLess(spec)) {
		upTo, then, _ := strings.Cut(condition, "<")
		bound, err := java.Int(upTo)
		switch {
		case err != nil:
			return 0, err
		case n <= bound:
			return result, nil
		}
		then, _, _ = strings.Cut(then, "<")
		if then == "" {
			return 0, exception.New(exception.ArrayIndex, "Index 1 out of bounds for length 1")
		}
		if result, err = simpleMinimum(n, then); err != nil {
			return 0, err
		}
	}
	return result, nil
}

// tightenLess takes blanks away around <.
func tightenLess(spec string) string {
	parts := strings.Split(spec, "<")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, "<")
}

func simpleMinimum(n int, spec string) (int, error) {
	percent := strings.Contains(spec, "%")
	if percent {
		spec = spec[:len(spec)-1]
	}
	asked, err := java.Int(spec)
	if err != nil {
		return 0, err
	}
	less := asked < 0
	if percent {
		part := float32(int32(n)*int32(asked)) * (1 / float32(100))
		asked, less = int(part), part < 0
	}
	if less {
		asked += n
	}
	return max(asked, 0), nil
}
