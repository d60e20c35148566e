package search

import "github.com/reshelve/reshelve/segment"

// PlanText makes a plan of a query for an index and describes it.
func PlanText(index *Index, views []segment.View, now int64, limits Limits, q Query) (string, error) {
	p, err := (&compiler{index: index, now: now, limits: limits, views: views}).compile(q)
	if err != nil {
		return "", err
	}
	return describe(p), nil
}
