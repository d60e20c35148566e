package search

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// text is a value that is a string.
func text(s string) fields.Value { return fields.Value{Kind: token.String, Text: s} }

func (c *compiler) term(q *Term, boost float32) (plan, error) {
	f, ok := c.field(q.Field)
	if !ok {
		return nonePlan{}, nil
	}
	if q.FoldCase {
		return c.foldedTerm(f, q.Value, boost)
	}
	return c.termOf(f, q.Value, boost)
}

// termOf finds a value of a field, scored where the server scores it.
func (c *compiler) termOf(f *fields.Field, v fields.Value, boost float32) (plan, error) {
	if constant, ok := c.constant(f); ok {
		return constant.finds(v.Text, boost), nil
	}
	switch {
	case f.Name() == "_id":
		return c.ids([]string{v.Text}, boost)
	case f.Type() == "wildcard" && (v.Text == "" || strings.ContainsAny(v.Text, `*?\`)): // the server takes a value for a pattern
		return c.wildcardOf(f, v.Text, false, "", boost)
	}
	m, err := f.Exact(v, c.now)
	if err != nil {
		return nil, err
	}
	if term, ok := single(m); ok && f.Scored() {
		return &termPlan{field: f.Name(), term: term, boost: boost}, nil
	}
	return matched(f, m, boost), nil
}

// single is the term of a match that means one.
func single(m fields.Match) ([]byte, bool) {
	return m.LeastTerm, m.Terms && m.Where == nil && m.GreatestTerm != nil && bytes.Equal(m.LeastTerm, m.GreatestTerm)
}

// matched gives what matches the score boost.
func matched(f *fields.Field, m fields.Match, boost float32) plan {
	switch {
	case m.None:
		return nonePlan{}
	case m.All:
		return allPlan{boost}
	}
	return &constantPlan{&matchPlan{f, m}, boost}
}

// constant is a field that has the same values in all documents of an index.
type constant []string

// constant tells the values of such a field.
func (c *compiler) constant(f *fields.Field) (constant, bool) {
	switch f.Type() {
	case "_index":
		return append(constant{c.index.Name}, c.index.Aliases...), true
	case "constant_keyword":
		if m, ok := c.index.Schema.Mapping().Field(f.Path()); ok {
			return constant{m.Text("value")}, true
		}
	}
	return nil, false
}

// finds is all or nothing, by a pattern with *.
func (values constant) finds(pattern string, boost float32) plan {
	for _, v := range values {
		if wildcard.Match(pattern, v) {
			return allPlan{boost}
		}
	}
	return nonePlan{}
}

func (c *compiler) terms(q *Terms, boost float32) (plan, error) {
	if limit := orDefault(c.limits.Terms, defaultTerms); len(q.Values) > limit {
		return nil, exception.New(exception.IllegalArgument, "The number of terms [%d] used in the Terms Query request has exceeded the allowed maximum of [%d]. "+
			"This maximum can be set by changing the [index.max_terms_count] index level setting.", len(q.Values), limit)
	}
	if len(q.Values) == 0 {
		return nonePlan{}, nil
	}
	f, ok := c.field(q.Field)
	if !ok {
		return nonePlan{}, nil
	}
	if constant, ok := c.constant(f); ok {
		return constant.findsAny(q.Values, boost), nil
	}
	if f.Name() == "_id" {
		return c.ids(texts(q.Values), boost)
	}
	read := listed(f, q.Values)
	matches := make([]fields.Match, len(q.Values))
	for i, v := range q.Values {
		m, err := f.Exact(read(v), c.now)
		switch {
		case err != nil:
			return nil, err
		case v.Text == "" && f.Type() == "wildcard":
			m = fields.Match{None: true}
		}
		matches[i] = m
	}
	if f.Kind() == fields.Truth && f.Scored() && allSame(matches) {
		return &termPlan{field: f.Name(), term: matches[0].LeastTerm, boost: boost}, nil
	}
	return anyMatch(f, matches, boost), nil
}

// listed is how the server reads one of several values: where all are whole numbers of 64
// bits, those below zero stand for a number without a sign with the same bits.
func listed(f *fields.Field, all []fields.Value) func(fields.Value) fields.Value {
	plainly := func(v fields.Value) fields.Value { return v }
	if f.Type() != "unsigned_long" {
		return plainly
	}
	for _, v := range all {
		if _, err := strconv.ParseInt(v.Text, 10, 64); err != nil || v.Kind != token.Integer {
			return plainly
		}
	}
	return func(v fields.Value) fields.Value {
		n, _ := strconv.ParseInt(v.Text, 10, 64)
		v.Text = strconv.FormatUint(uint64(n), 10)
		return v
	}
}

// allSame reports whether matches mean one term.
func allSame(matches []fields.Match) bool {
	first, ok := single(matches[0])
	return ok && !slices.ContainsFunc(matches, func(m fields.Match) bool {
		term, ok := single(m)
		return !ok || !bytes.Equal(term, first)
	})
}

func texts(values []fields.Value) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.Text
	}
	return list
}

func (values constant) findsAny(asked []fields.Value, boost float32) plan {
	for _, v := range asked {
		if p := values.finds(v.Text, boost); p != (nonePlan{}) {
			return p
		}
	}
	return nonePlan{}
}

// anyMatch gives what one of some matches means the score boost.
func anyMatch(f *fields.Field, matches []fields.Match, boost float32) plan {
	var (
		terms   [][]byte
		numbers []interval
		others  []plan
	)
	for _, m := range matches {
		if term, ok := single(m); ok {
			terms = append(terms, term)
		} else if m.Numbers && m.Least <= m.Greatest {
			numbers = append(numbers, interval{m.Least, m.Greatest})
		} else if m.Terms {
			others = append(others, &matchPlan{f, m})
		}
	}
	if len(terms) > 0 {
		slices.SortFunc(terms, bytes.Compare)
		others = append(others, &termsPlan{f.Name(), slices.CompactFunc(terms, bytes.Equal)})
	}
	if numbers = join(numbers); len(numbers) == 1 {
		others = append(others, &matchPlan{f, fields.Match{Numbers: true, Least: numbers[0].least, Greatest: numbers[0].greatest}})
	} else if len(numbers) > 1 {
		others = append(others, &numbersPlan{f, numbers})
	}
	return constantly(others, boost)
}

// join sorts intervals and makes one of those that overlap.
func join(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.least, b.least) })
	joined := list[:0]
	for _, next := range list {
		if n := len(joined); n > 0 && next.least <= joined[n-1].greatest {
			joined[n-1].greatest = max(joined[n-1].greatest, next.greatest)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}

// ids finds documents by id: sorted, each once.
func (c *compiler) ids(ids []string, boost float32) (plan, error) {
	if len(ids) == 0 {
		return nonePlan{}, nil
	}
	ids = slices.Clone(ids)
	if slices.Sort(ids); ids[0] == "" {
		return nil, exception.New(exception.IllegalArgument, "Ids can't be empty")
	}
	return &constantPlan{&idsPlan{slices.Compact(ids)}, boost}, nil
}

func (c *compiler) ranged(q *Range, boost float32) (plan, error) {
	f, ok := c.field(q.Field)
	if !ok {
		return nonePlan{}, nil
	}
	if q.Asked.From == nil && q.Asked.To == nil {
		return c.exists(&Exists{Field: q.Field}, boost)
	}
	m, err := f.Range(q.Asked, c.now)
	if err != nil {
		if f.Kind() == fields.Date { // dates are read before
			err = &early{err}
		}
		return nil, err
	}
	if term, ok := single(m); ok && f.Kind() == fields.Truth && f.Scored() {
		return &termPlan{field: f.Name(), term: term, boost: boost}, nil
	}
	return matched(f, m, boost), nil
}

func (c *compiler) exists(q *Exists, boost float32) (plan, error) {
	list, err := c.existing(q.Field)
	if err != nil {
		return nil, err
	}
	var names []string
	var others []plan
	for _, f := range list {
		name, m, err := f.Exists()
		switch {
		case err != nil:
			return nil, err
		case m.All || name == "_id" || name == "_seq_no":
			return &constantPlan{allPlan{1}, boost}, nil
		case m.Terms:
			others = append(others, &termsPlan{name, [][]byte{m.LeastTerm}})
		default:
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		others = append(others, &existsPlan{names})
	}
	return constantly(others, boost), nil
}

// constantly gives what one of some plans finds the score boost.
func constantly(of []plan, boost float32) plan {
	switch len(of) {
	case 0:
		return nonePlan{}
	case 1:
		return &constantPlan{of[0], boost}
	}
	return &constantPlan{&boolPlan{should: of, minShould: 1}, boost}
}

// existing are the fields that a name, a pattern or an object of exists means.
func (c *compiler) existing(name string) ([]*fields.Field, error) {
	schema := c.index.Schema
	switch {
	case strings.Contains(name, "*") && wildcard.Match(name, "_feature"):
		return nil, exception.New(exception.UnsupportedOperation, "Cannot run exists query on [_feature]")
	case strings.Contains(name, "*"):
		return schema.Matching(name), nil
	}
	if f, ok := c.field(name); ok {
		return []*fields.Field{f}, nil
	}
	return schema.Matching(name + ".*"), nil
}
