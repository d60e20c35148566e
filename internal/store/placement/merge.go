package placement

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// Join plans one shard of neighbours, given in any order. The one with the lowest range
// keeps its number.
func (p Placement) Join(shards []uint32, w Weights) (Plan, error) {
	var from []Shard
	for _, number := range shards {
		s, err := p.shard(number)
		if err != nil {
			return Plan{}, err
		}
		from = append(from, s)
	}
	slices.SortFunc(from, func(a, b Shard) int { return cmp.Compare(a.Range.From, b.Range.From) })
	if len(from) < 2 {
		return Plan{}, refuse("name two neighbours or more", "%d shards make no merge", len(from))
	}
	for i := 1; i < len(from); i++ {
		before, s := from[i-1], from[i]
		switch {
		case s.Number == before.Number:
			return Plan{}, refuse("name each shard once", "shard %d is named twice", s.Number)
		case before.Range.To+1 != s.Range.From:
			return Plan{}, refuse("name all between them too", "shards %d and %d are no neighbours: %s and %s", before.Number, s.Number, before.Range, s.Range)
		case before.Node != s.Node:
			return Plan{}, refuse("move one of them first", "shard %d is on %s, and shard %d on %s", before.Number, before.Node, s.Number, s.Node)
		}
	}
	whole := routing.Range{From: from[0].Range.From, To: from[len(from)-1].Range.To}
	return p.plan(w, []Group{{From: from, To: []Part{{Range: whole}}}})
}
