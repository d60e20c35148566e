package search

import (
	"fmt"
	"math"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// placed makes plans of the queries for places of the earth.
func (c *compiler) placed(q Query, boost float32) (plan, error) {
	var name, queries string
	var ignore bool
	var test func() *testPlan
	switch q := q.(type) {
	case *GeoBox:
		name, queries, ignore, test = q.Field, "geo_bounding_box", q.IgnoreUnmapped, func() *testPlan { return inBox(q) }
	case *GeoDistance:
		name, queries, ignore, test = q.Field, "geo_distance", q.IgnoreUnmapped, func() *testPlan { return nearPoint(q) }
	}
	f, ok := c.field(name)
	switch {
	case !ok && ignore:
		return nonePlan{}, nil
	case !ok:
		return nil, c.refuse("failed to find geo field [%s]", name)
	case f.Kind() != fields.GeoPoint:
		return nil, c.refuse("type [%s] for field [%s] is not supported for [%s] queries. Must be one of [geo_point] or [geo_shape]", f.Type(), name, queries)
	case f.Spec().Column == segment.NoColumn:
		return nil, c.unsupported("[" + queries + "] on the field [" + name + "], which has no doc_values,")
	}
	p := test()
	if p == nil {
		return nonePlan{}, nil
	}
	p.field = f
	return &constantPlan{p, boost}, nil
}

// The steps of latitudes and longitudes, as fields.Point counts them.
const (
	latSteps = (1 << 32) / 180.0
	lonSteps = (1 << 32) / 360.0
)

// stepsFrom is the first step that is not before so many degrees, stepsTo the last that is
// not behind them.
func stepsFrom(degrees, steps float64) int64 { return clip(math.Ceil(degrees * steps)) }
func stepsTo(degrees, steps float64) int64   { return clip(math.Floor(degrees * steps)) }

func clip(n float64) int64 { return int64(min(max(n, math.MinInt32), math.MaxInt32)) }

// inBox finds points in a box; nil when it has none. One whose left is east of its right
// goes over the date line.
func inBox(q *GeoBox) *testPlan {
	left, right := q.Left, q.Right
	if right > left && math.Mod(right-left, 360) == 0 {
		left, right = -180, 180
	}
	if q.Bottom > q.Top {
		return nil
	}
	from, to := stepsFrom(q.Bottom, latSteps), stepsTo(q.Top, latSteps)
	west, east := stepsFrom(left, lonSteps), stepsTo(right, lonSteps)
	over := left > right
	return &testPlan{
		least: from << 32, greatest: to<<32 | math.MaxUint32,
		holds: func(n int64) bool {
			lon := int64(int32(n))
			if over {
				return lon >= west || lon <= east
			}
			return lon >= west && lon <= east
		},
		text: fmt.Sprintf("box(%v,%v %v,%v)", q.Top, q.Left, q.Bottom, q.Right),
	}
}

// nearPoint finds points at most so many meters from a place.
func nearPoint(q *GeoDistance) *testPlan {
	if math.IsNaN(q.Meters) || q.Meters < 0 {
		return nil
	}
	around := (q.Meters/meanRadius)*(180/math.Pi) + 1e-5 // degrees, rounded up
	from, to := stepsFrom(q.Lat-around, latSteps), stepsTo(q.Lat+around, latSteps)
	return &testPlan{
		least: from << 32, greatest: to<<32 | math.MaxUint32,
		holds: func(n int64) bool {
			lat, lon := fields.PointOf(n)
			return arc(q.Lat, q.Lon, lat, lon) <= q.Meters
		},
		text: fmt.Sprintf("near(%v,%v %vm)", q.Lat, q.Lon, q.Meters),
	}
}

// tested makes the node of a testPlan: docs with points in the interval, whose columns are
// looked at.
func (r *reader) tested(p *testPlan) node {
	f := r.view.Field(p.field.Name())
	if f == nil || f.Numbers() == nil {
		return nil
	}
	set := segment.NewBits(r.view.Docs())
	if points := f.Points(); points != nil {
		points.Within(p.least, p.greatest, set)
	} else {
		set = fields.Match{Numbers: true, Least: p.least, Greatest: p.greatest}.Column(f, r.view.Docs())
	}
	var values []int64
	for doc := set.Next(0); doc != end; doc = set.Next(doc + 1) {
		found := false
		values = f.Numbers().All(values[:0], doc)
		for _, n := range values {
			found = found || n >= p.least && n <= p.greatest && p.holds(n)
		}
		if !found {
			set.Clear(doc)
		}
	}
	return newSet(set)
}
