package search

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// weighed is a field with a boost; without a field when the name is not mapped.
type weighed struct {
	name  string
	field *fields.Field
	boost float32
}

// weighed finds the fields that names and patterns with boosts mean, by name. A field that
// several of them mean has the product of their boosts. Suffix is tried behind each name.
func (c *compiler) weighed(asked []FieldBoost, suffix string) ([]weighed, error) {
	boosts := map[string]float32{}
	for _, a := range asked {
		for _, name := range c.named(a.Field, suffix) {
			if _, ok := boosts[name]; !ok {
				boosts[name] = 1
			}
			boosts[name] *= a.Boost
		}
	}
	if limit := orDefault(c.limits.Clauses, defaultClauses); len(boosts) > limit {
		return nil, exception.New(exception.IllegalArgument, "field expansion matches too many fields, limit: %d, got: %d", limit, len(boosts))
	}
	list := make([]weighed, 0, len(boosts))
	for name, boost := range boosts {
		f, _ := c.field(name)
		list = append(list, weighed{name, f, boost})
	}
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Compare(a.name, b.name) })
	return list, nil
}

// named are the names that a name or a pattern means. Patterns mean fields alone that can
// be asked for texts.
func (c *compiler) named(name, suffix string) (names []string) {
	pattern := strings.Contains(name, "*")
	if !pattern {
		names = []string{name}
		if f, ok := c.field(name); ok {
			names[0] = f.Path()
		}
	} else {
		for _, f := range c.index.Schema.Matching(name) {
			if f.Kind() != fields.Opaque && f.Kind() != fields.GeoPoint {
				names = append(names, f.Path())
			}
		}
		for _, own := range []string{"_id", "_index", "_routing", "_ignored", "_seq_no"} {
			if name != "*" && wildcard.Match(name, own) {
				names = append(names, own)
			}
		}
	}
	if suffix != "" {
		for i, n := range names {
			if f, ok := c.field(n + suffix); ok {
				names[i] = f.Path()
			}
		}
	}
	return names
}

// defaults are the fields of index.query.default_field; all tells that they are all of them.
func (c *compiler) defaults() (list []FieldBoost, all bool) {
	for _, name := range c.index.Defaults {
		all = all || name == "*"
		list = append(list, readFieldBoost(name))
	}
	if len(list) == 0 {
		return []FieldBoost{{"*", 1}}, true
	}
	return list, all
}

// readFieldBoost reads "field^2".
func readFieldBoost(text string) FieldBoost {
	name, number, ok := strings.Cut(text, "^")
	if boost, err := strconv.ParseFloat(number, 32); ok && err == nil {
		return FieldBoost{name, float32(boost)}
	}
	return FieldBoost{text, 1}
}

func hasAll(asked []FieldBoost) bool {
	return slices.ContainsFunc(asked, func(f FieldBoost) bool { return f.Field == "*" })
}

// multiMatch makes a plan of multi_match.
func (c *compiler) multiMatch(q *MultiMatch, boost float32) (plan, error) {
	asked, lenient := q.Fields, q.Match.Lenient
	if len(asked) == 0 {
		all := false
		if asked, all = c.defaults(); all {
			lenient = true
		}
	} else if hasAll(asked) {
		lenient = true
	}
	list, err := c.weighed(asked, "")
	if err != nil {
		return nil, err
	}
	m := several{c: c, kind: q.Type, tie: tieOf(q.Type, q.TieBreaker), minimum: q.Match.MinimumShould}
	m.wording = wording{name: "multi_match", slop: q.Slop, expansions: orDefault(q.Expansions, defaultExpansions), zeroAll: q.Match.ZeroTermsAll, boost: boost}
	m.take(&q.Match)
	m.lenient = lenient
	p, err := m.match(list, q.Match.Text.Text)
	if err == nil && p == nil {
		p = m.nothing()
	}
	return p, err
}

// tieOf is how much the fields that are not the best count.
func tieOf(kind string, asked *float32) float32 {
	switch {
	case asked != nil:
		return *asked
	case kind == "most_fields", kind == "bool_prefix":
		return 1
	}
	return 0
}

// several is how a text is looked for in several fields.
type several struct {
	wording
	c       *compiler
	kind    string
	tie     float32
	minimum string
}

// nothing is found when nothing is left of a text: or all.
func (m *several) nothing() plan {
	if m.zeroAll {
		return allPlan{m.boost}
	}
	return nonePlan{}
}

// match looks for a text in fields; nil when nothing is left of it in any of them.
func (m *several) match(list []weighed, text string) (plan, error) {
	mapped := slices.DeleteFunc(slices.Clone(list), func(w weighed) bool { return w.field == nil })
	if len(mapped) == 0 {
		return nonePlan{}, nil
	}
	var parts []plan
	var err error
	if m.kind == "cross_fields" {
		parts, err = m.crossed(mapped, text)
	} else {
		parts, err = m.each(mapped, text)
	}
	if err != nil {
		return nil, err
	}
	return best(parts, m.tie), nil
}

// best is the best of some plans; nil when there are none.
func best(parts []plan, tie float32) plan {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &maxPlan{of: parts, tie: tie}
}

var forms = map[string]form{"phrase": phrase, "phrase_prefix": phrasePrefix, "bool_prefix": wordsPrefix}

// each looks for a text in fields, one by one.
func (m *several) each(list []weighed, text string) (parts []plan, err error) {
	for _, one := range list {
		w := m.wording
		w.form, w.boost = forms[m.kind], m.boost*one.boost
		p, err := m.c.worded(one.field, text, w)
		if err != nil {
			return nil, err
		}
		if p == nil && m.name != "" {
			p = m.nothing()
		}
		if p, err = withMinimum(p, m.minimum); err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, ownBoost(p, one.boost))
		}
	}
	return parts, nil
}

// crossed looks for a text in fields as if they were one: those that take it apart in the
// same way together, with each word in any of them.
func (m *several) crossed(list []weighed, text string) (parts []plan, err error) {
	groups := map[string][]weighed{}
	var names []string
	for _, one := range list {
		name := m.analyzer
		if name == "" {
			name = m.c.analyzerName(one.field)
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], one)
	}
	for _, name := range names {
		group := groups[name]
		b := &builder{c: m.c, field: group[0].field, wording: m.wording}
		b.boost = m.boost * group[0].boost
		if len(group) > 1 {
			b.boost, b.across, b.tie = m.boost, group, m.tie
		}
		analyzer, err := m.c.analyzerOf(group[0].field, m.wording)
		if err != nil {
			return nil, err
		}
		p, err := b.plan(analyzer.Analyze(nil, []byte(text)), anyWords, m.and)
		if err != nil {
			return nil, err
		}
		if p == nil && m.name != "" {
			p = m.nothing()
		}
		if p, err = withMinimum(p, m.minimum); err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// analyzerName tells fields apart that take texts apart in different ways.
func (c *compiler) analyzerName(f *fields.Field) string {
	def, ok := c.index.Schema.Mapping().Field(f.Path())
	switch {
	case !ok:
		return ""
	case f.Kind() == fields.Text:
		return "analyzer " + def.Text("search_analyzer")
	case def.On("split_queries_on_whitespace"):
		return "whitespace " + def.Text("normalizer")
	case def.Text("normalizer") != "" && def.Text("normalizer") != "default":
		return "normalizer " + def.Text("normalizer")
	}
	return ""
}

// blendedTerms are terms of one place in all the fields of a group, equally rare in all of
// them. What is not scored by its rareness is beside them.
func (b *builder) blendedTerms(terms []string) (plan, error) {
	shared := &blend{fields: true}
	var scored, others []plan
	for _, f := range b.across {
		for _, term := range terms {
			one := *b
			one.across, one.field, one.boost = nil, f.field, b.boost*f.boost
			p, err := one.forgive(b.c.termOf(f.field, text(term), one.boost))
			if err != nil {
				return nil, err
			}
			if t, ok := p.(*termPlan); ok {
				t.blend = shared
				shared.terms = append(shared.terms, t)
				scored = append(scored, t)
			} else {
				others = append(others, p)
			}
		}
	}
	if len(scored) > 0 {
		others = append(others, &maxPlan{of: scored, tie: b.tie})
	}
	return best(others, b.tie), nil
}

// inEach makes the best of what is made of each field of a group.
func (b *builder) inEach(do func(one *builder) (plan, error)) (plan, error) {
	parts := make([]plan, 0, len(b.across))
	for _, f := range b.across {
		one := *b
		one.across, one.field, one.boost = nil, f.field, b.boost*f.boost
		p, err := do(&one)
		if err != nil {
			return nil, err
		}
		parts = append(parts, ownBoost(p, f.boost))
	}
	return best(parts, b.tie), nil
}
