package search

// functionScore makes a plan of function_score.
func (c *compiler) functionScore(q *FunctionScore, boost float32) (plan, error) {
	p := &functionPlan{score: q, boost: 1}
	if c.filters { // min_score looks at scores without a boost that nobody asks for
		boost = 1
	}
	for i := range q.Functions {
		f := &q.Functions[i]
		var filter plan
		if _, all := f.Filter.(*MatchAll); f.Filter != nil && !all {
			of, err := c.unscored().query(f.Filter, 1)
			if err != nil {
				return nil, err
			}
			filter = of
		}
		value, err := newValuer(c.index, f, c.now)
		if err != nil {
			return nil, err
		}
		p.filter, p.values = append(p.filter, filter), append(p.values, value)
	}
	if q.Query == nil {
		p.of = allPlan{boost}
		return p, nil
	}
	of, err := c.query(q.Query, boost)
	p.of = of
	return p, err
}
