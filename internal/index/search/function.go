package search

import (
	"math"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// functionNode changes the scores of a node by functions; docs below a least score are not
// found.
type functionNode struct {
	node
	functions []functionOf
	scoreMode string
	boostMode string
	most      float64 // max_boost
	least     *float32
	failed    *failure

	at    segment.Doc // the doc that value is of
	any   bool        // at counts
	value float32

	values []float64 // of the functions that apply
}

// functionOf is a function in a view.
type functionOf struct {
	filter  node // nil unless filtered
	some    bool // filtered
	weight  float64
	between float64 // what weighs in an average
	value   func(segment.Doc) (float64, error)
}

// function makes the node.
func (r *reader) function(p *functionPlan, scored bool) node {
	s := p.score
	if !scored && s.MinScore != nil {
		return newFixed(r.function(p, true), 0)
	}
	n := r.node(p.of, scored)
	if n == nil || !scored || len(s.Functions) == 0 && s.MinScore == nil {
		return n
	}
	f := &functionNode{
		node: n, scoreMode: s.ScoreMode, boostMode: s.BoostMode,
		most: float64(s.MaxBoost), least: s.MinScore, failed: r.failed,
	}
	if s.MaxBoost == 0 {
		f.most = math.MaxFloat32
	}
	if len(s.Functions) == 1 && p.filter[0] == nil { // a mean of one is not divided by its weight
		f.scoreMode = "first"
	}
	for i := range s.Functions {
		one := r.functionOf(&s.Functions[i], p.values[i])
		if p.filter[i] != nil {
			one.some, one.filter = true, r.filter(p.filter[i])
		}
		f.functions = append(f.functions, one)
	}
	return f
}

// functionOf is a function in the view.
func (r *reader) functionOf(f *Function, v valuer) functionOf {
	one := functionOf{weight: 1, between: 1, value: always}
	if f.Weight != nil {
		one.weight, one.between = float64(*f.Weight), float64(*f.Weight)
	}
	if v != nil {
		one.value = v.in(r.view)
	}
	return one
}

func always(segment.Doc) (float64, error) { return 1, nil }

func (f *functionNode) exact() bool { return f.least == nil && f.node.exact() }

func (f *functionNode) matches() bool {
	return f.node.matches() && (f.least == nil || f.score() >= *f.least)
}

func (f *functionNode) score() float32 {
	if d := f.doc(); !f.any || f.at != d {
		f.at, f.any = d, true
		f.value = f.change(d, f.node.score())
	}
	return f.value
}

// change is the new score of a doc.
func (f *functionNode) change(doc segment.Doc, score float32) float32 {
	if len(f.functions) == 0 {
		return score
	}
	factor, err := f.combine(doc)
	if err != nil {
		f.failed.set(err)
		return 0
	}
	factor = min(factor, f.most)
	old, changed := float64(score), float32(0)
	switch f.boostMode {
	case "replace":
		changed = float32(factor)
	case "sum":
		changed = float32(old + factor)
	case "avg":
		changed = float32((factor + old) / 2)
	case "min":
		changed = float32(min(old, factor))
	case "max":
		changed = float32(max(old, factor))
	default:
		changed = float32(old * factor)
	}
	if changed < 0 || changed != changed {
		kind := exception.IllegalArgument
		if changed != changed || math.IsInf(float64(changed), -1) {
			kind = exception.Unknown
		}
		f.failed.set(exception.New(kind, "function score query returned an invalid score: %s for doc: %d", java.Float(changed), doc))
		return 0
	}
	return changed
}

// combine is what the functions that apply to a doc give together; 1 when none does.
func (f *functionNode) combine(doc segment.Doc) (float64, error) {
	f.values = f.values[:0]
	weights := 0.0
	for i := range f.functions {
		one := &f.functions[i]
		if one.some && (one.filter == nil || !has(one.filter, doc)) {
			continue
		}
		v, err := one.value(doc)
		if err != nil {
			return 0, err
		}
		v *= one.weight
		if f.scoreMode == "first" {
			return v, nil
		}
		f.values, weights = append(f.values, v), weights+one.between
	}
	if len(f.values) == 0 {
		return 1, nil
	}
	return combined(f.scoreMode, f.values, weights), nil
}

// combined puts values together, at least one.
func combined(mode string, values []float64, weights float64) float64 {
	switch mode {
	case "max":
		return slices.Max(values)
	case "min":
		return slices.Min(values)
	case "sum", "avg":
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		switch {
		case weights == 0:
			return 1
		case mode == "avg":
			return sum / weights
		}
		return sum
	}
	product := 1.0
	for _, v := range values {
		product *= v
	}
	return product
}

// bound knows nothing of what functions give.
func (f *functionNode) bound(segment.Doc) (segment.Doc, float32) { return end, math.MaxFloat32 }
func (f *functionNode) ceiling() float32                         { return math.MaxFloat32 }
func (f *functionNode) demand(float32)                           {}
