package search

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// patterned makes plans of the queries that find terms by their form.
func (c *compiler) patterned(q Query, boost float32) (plan, error) {
	switch q := q.(type) {
	case *Prefix:
		f, ok := c.field(q.Field)
		if !ok {
			return nonePlan{}, nil
		}
		return c.prefixOf(f, q.Value, q.FoldCase, q.Rewrite, boost)
	case *Wildcard:
		f, ok := c.field(q.Field)
		if !ok {
			return nonePlan{}, nil
		}
		return c.wildcardOf(f, q.Value, q.FoldCase, q.Rewrite, boost)
	case *Regexp:
		f, ok := c.field(q.Field)
		return c.regexpOf(f, ok, q, boost)
	case *Fuzzy:
		f, ok := c.field(q.Field)
		if !ok {
			return nonePlan{}, nil
		}
		return c.fuzzyTerm(f, q.Value.Text, q.Fuzziness, q.Rewrite, boost)
	}
	panic("search: not a query of a pattern")
}

// hasForm refuses fields whose terms are not texts.
func (c *compiler) hasForm(f *fields.Field, queries string) error {
	switch f.Type() {
	case "text", "match_only_text", "keyword", "wildcard", "flat_object", "_routing", "_ignored", "_nested_path":
		return nil
	}
	if queries == "fuzzy" {
		return exception.New(exception.IllegalArgument, noForm, queries, f.Path(), f.Type())
	}
	return c.refuse(noForm, queries, f.Path(), f.Type())
}

// noForm refuses a kind of query on a field of a type.
const noForm = "Can only use %s queries on keyword and text fields - not on [%s] which is of type [%s]"

// foldedTerm is a term whatever the case of its letters.
func (c *compiler) foldedTerm(f *fields.Field, v fields.Value, boost float32) (plan, error) {
	if constant, ok := c.constant(f); ok {
		return constant.lower().finds(strings.ToLower(v.Text), boost), nil
	}
	if k := f.Kind(); k != fields.Text && k != fields.Keyword && k != fields.Truth {
		return nil, c.refuse("[%s] field which is of type [%s], does not support case insensitive term queries", f.Path(), f.Type())
	}
	switch {
	case f.Type() == "wildcard":
		return c.wildcardOf(f, v.Text, true, "", boost)
	case v.Text == "" && f.Kind() != fields.Truth: // without a letter there is no case, and nothing is found
		return nonePlan{}, nil
	}
	m, err := f.Exact(v, c.now)
	if err != nil {
		return nil, err
	}
	term, ok := single(m)
	if !ok {
		return matched(f, m, boost), nil
	}
	accept, err := automaton.Folded(string(term))
	return &constantPlan{&wordsPlan{f.Name(), accept, string(term) + folded(true)}, boost}, err
}

func (values constant) lower() constant {
	list := make(constant, len(values))
	for i, v := range values {
		list[i] = strings.ToLower(v)
	}
	return list
}

// normal is a text as the terms of a field are written, as far as it has a normalizer,
// without what all its terms begin with.
func (c *compiler) normal(f *fields.Field, v string) (string, error) {
	m, err := f.Exact(text(v), c.now)
	if err != nil {
		return "", err
	}
	if term, ok := single(m); ok {
		return strings.TrimPrefix(string(term), f.Prefix()), nil
	}
	return v, nil
}

func (c *compiler) prefixOf(f *fields.Field, v string, fold bool, rewrite string, boost float32) (plan, error) {
	if constant, ok := c.constant(f); ok {
		return constant.finds(v+"*", boost), nil
	}
	if err := c.hasForm(f, "prefix"); err != nil {
		return nil, err
	}
	if f.Type() == "wildcard" { // and what stands before * is a pattern
		return c.wildcardOf(f, v+"*", fold, rewrite, boost)
	}
	v, err := c.normal(f, v)
	if err != nil {
		return nil, err
	}
	accept, err := automaton.Prefix(f.Prefix(), v, fold)
	if err != nil {
		return nil, err
	}
	return c.expanded(f, accept, v+"*"+folded(fold), rewrite, boost)
}

func (c *compiler) wildcardOf(f *fields.Field, v string, fold bool, rewrite string, boost float32) (plan, error) {
	if constant, ok := c.constant(f); ok {
		return constant.finds(v, boost), nil
	}
	if err := c.hasForm(f, "wildcard"); err != nil {
		return nil, err
	}
	switch {
	case v == "": // is met by nothing, not even by an empty text
		return nonePlan{}, nil
	case f.Type() == "wildcard" && strings.Contains(v, `\`) && !hasWildcard(v):
		return c.literally(f, v, boost)
	}
	v, err := normalParts(v, func(part string) (string, error) { return c.normal(f, part) })
	if err != nil {
		return nil, err
	}
	accept, err := automaton.Wildcard(f.Prefix(), v, fold)
	if err != nil {
		return nil, err
	}
	return c.expanded(f, accept, v+folded(fold), rewrite, boost)
}

// hasWildcard reports whether a pattern has * or ? with their meaning.
func hasWildcard(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		}
	}
	return false
}

// literally is a pattern on a wildcard field in which nothing stands for anything else. The
// server finds none of those in which a sign is escaped that needs it, and takes all other
// backslashes as they are.
func (c *compiler) literally(f *fields.Field, pattern string, boost float32) (plan, error) {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' && strings.IndexByte(`*?\`, pattern[i+1]) >= 0 {
			return nonePlan{}, nil
		}
	}
	m, err := f.Exact(text(pattern), c.now)
	return matched(f, m, boost), err
}

// folded is what stands behind a form that is met whatever the case.
func folded(fold bool) string {
	if fold {
		return "/i"
	}
	return ""
}

func (c *compiler) regexpOf(f *fields.Field, mapped bool, q *Regexp, boost float32) (plan, error) {
	if limit, n := orDefault(c.limits.Regexp, defaultRegexp), utf16Length(q.Value); n > limit {
		return nil, exception.New(exception.IllegalArgument, "The length of regex [%d] used in the Regexp Query request has exceeded the allowed maximum of [%d]. "+
			"This maximum can be set by changing the [index.max_regex_length] index level setting.", n, limit)
	}
	flags, err := automaton.ReadFlags(q.Flags)
	if err != nil {
		return nil, err
	}
	value := q.Value
	if mapped {
		if constant, ok := c.constant(f); ok && f.Type() != "_index" {
			return constant.meets(value, flags, q.FoldCase, boost)
		}
		if err := c.hasForm(f, "regexp"); err != nil {
			return nil, err
		}
		if value, err = c.normal(f, value); err != nil {
			return nil, err
		}
		value = f.Prefix() + value // which the server makes part of the expression
	}
	limit, err := effort(q.MaxStates)
	if err != nil {
		return nil, err
	}
	accept, err := automaton.Regexp(value, flags, q.FoldCase, limit)
	if err != nil || !mapped || value == "" && q.FoldCase { // what is wrong with it is told although nobody has the field
		return nonePlan{}, err
	}
	return c.expanded(f, accept, "/"+value+"/"+folded(q.FoldCase), q.Rewrite, boost)
}

// mostEffort is how much max_determinized_states may be: it bounds memory.
const mostEffort = 100_000

// effort is max_determinized_states; 0 stands for the server's.
func effort(asked int) (int, error) {
	if asked > mostEffort {
		return 0, exception.New(exception.IllegalArgument, "[max_determinized_states] above [%d] is not supported by this version of reshelve", mostEffort)
	}
	return orDefault(asked, automaton.MaxEffort), nil
}

// meets is all or nothing, by a regular expression.
func (values constant) meets(text string, flags automaton.Flags, fold bool, boost float32) (plan, error) {
	accept, err := automaton.Regexp(text, flags, fold, automaton.MaxEffort)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if accept.Meets(v) {
			return allPlan{boost}, nil
		}
	}
	return nonePlan{}, nil
}

// utf16Length is how long the server finds a text.
func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// expanded finds the terms that an automaton accepts, as rewrite says.
func (c *compiler) expanded(f *fields.Field, accept *automaton.Words, written, rewrite string, boost float32) (plan, error) {
	how, err := readRewrite(rewrite)
	if err != nil {
		return nil, err
	}
	if how.kind == "" || how.kind == "constant_score" || f.Type() == "wildcard" {
		return &constantPlan{&wordsPlan{f.Name(), accept, written}, boost}, nil
	}
	return c.chosen(f, accept, 0, how, boost)
}

// rewriting is how terms that were found become clauses.
type rewriting struct {
	kind string // constant_score, scoring_boolean, top_terms, …; "": the query's own
	most int    // of the last three
}

// readRewrite reads the text of rewrite.
func readRewrite(text string) (rewriting, error) {
	switch text {
	case "", "constant_score", "scoring_boolean", "constant_score_boolean":
		return rewriting{kind: text}, nil
	}
	for _, kind := range []string{"top_terms_blended_freqs_", "top_terms_boost_", "top_terms_"} {
		if number, ok := strings.CutPrefix(text, kind); ok && number != "" && number[0]-'0' <= 9 {
			most, err := java.Int(number)
			return rewriting{strings.TrimSuffix(kind, "_"), most}, err
		}
	}
	return rewriting{}, exception.New(exception.IllegalArgument, "Failed to parse rewrite_method [%s]", text)
}

// candidate is a term that may become a clause.
type candidate struct {
	term  []byte
	boost float32
}

// similar are the best terms, at most so many, that an automaton accepts and a document
// has, by term. The boost of each is 1 less the edits for each of the characters, of which
// the text has so many; always 1 when length is 0. Of equals the first terms are the best.
func (c *compiler) similar(f *fields.Field, accept *automaton.Words, length, most int) []candidate {
	var found []candidate
	for _, v := range c.views {
		held := v.Field(f.Name())
		if held == nil {
			continue
		}
		eachAccepted(held, accept, func(term []byte, e segment.Entry, state int) bool {
			if !shown(v, held, e) {
				return true
			}
			next := candidate{bytes.Clone(term), 1}
			if edits := int(accept.Worth(state)) - 1; length > 0 && edits > 0 {
				next.boost = 1 - float32(edits)/float32(min(utf8.RuneCount(term), length))
			}
			if found = append(found, next); len(found) > 2*most+1000 {
				found = keepBest(found, most)
			}
			return true
		})
		found = keepBest(found, most)
	}
	return found
}

// keepBest sorts candidates by term, each once, after it left the worst of them out.
func keepBest(found []candidate, most int) []candidate {
	byTerm := func(a, b candidate) int { return bytes.Compare(a.term, b.term) }
	slices.SortFunc(found, byTerm)
	found = slices.CompactFunc(found, func(a, b candidate) bool { return bytes.Equal(a.term, b.term) })
	if len(found) > most {
		slices.SortStableFunc(found, func(a, b candidate) int { return -cmp.Compare(a.boost, b.boost) })
		found = found[:most]
		slices.SortFunc(found, byTerm)
	}
	return found
}

// chosen makes clauses of the terms that an automaton accepts.
func (c *compiler) chosen(f *fields.Field, accept *automaton.Words, length int, how rewriting, boost float32) (plan, error) {
	if c.looks {
		return &wordsPlan{field: f.Name(), accept: accept}, nil
	}
	limit := orDefault(c.limits.Clauses, defaultClauses)
	most := limit + 1
	if strings.HasPrefix(how.kind, "top_terms") {
		if most = min(how.most, limit); most == 0 {
			return nil, &early{exception.New(exception.NullPointer, `Cannot read field "boost" because "t" is null`)}
		}
	}
	found := c.similar(f, accept, length, most)
	switch {
	case len(found) > limit: // the server finds out while it searches
		return nil, &early{exception.New(exception.TooManyClauses, "maxClauseCount is set to %d", limit)}
	case len(found) == 0:
		return nonePlan{}, nil
	}
	var shared *blend
	if how.kind == "top_terms_blended_freqs" && len(found) > 1 {
		shared = &blend{}
	}
	parts := make([]plan, len(found))
	for i, one := range found {
		term := &termPlan{field: f.Name(), term: one.term, boost: boost * max(one.boost, 0), blend: shared}
		switch {
		case how.kind == "constant_score_boolean":
			parts[i] = &termsPlan{f.Name(), [][]byte{one.term}}
			continue
		case how.kind == "top_terms_boost" || f.Spec().Postings == segment.NoPostings:
			parts[i] = &constantPlan{&termsPlan{f.Name(), [][]byte{one.term}}, term.boost}
			continue
		case shared != nil:
			shared.terms = append(shared.terms, term)
		}
		parts[i] = term
	}
	if how.kind == "constant_score_boolean" {
		return &constantPlan{&boolPlan{should: parts, minShould: 1}, boost}, nil
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &boolPlan{should: parts, minShould: 1, expanded: true}, nil
}

// fuzzyWord is fuzzyTerm for a word of a text.
func (c *compiler) fuzzyWord(f *fields.Field, v string, how Fuzziness, rewrite string, boost float32) (plan, error) {
	switch f.Type() {
	case "flat_object": // looked for where it has no terms
		return nonePlan{}, nil
	case "wildcard":
		return nil, exception.New(exception.IllegalArgument, noForm, "fuzzy", f.Path(), f.Type())
	}
	return c.fuzzyTerm(f, v, how, rewrite, boost)
}

// fuzzyTerm finds terms that are like a text.
func (c *compiler) fuzzyTerm(f *fields.Field, v string, how Fuzziness, rewrite string, boost float32) (plan, error) {
	if err := c.hasForm(f, "fuzzy"); err != nil {
		return nil, err
	}
	if f.Type() == "wildcard" { // the server looks for what is like one of the short parts of values
		return nil, c.unsupported("[fuzzy] on a field of type [wildcard]")
	}
	v, err := c.normal(f, v)
	if err != nil {
		return nil, err
	}
	top, err := readRewrite(rewrite)
	if err != nil {
		return nil, err
	}
	if top.kind == "" {
		top = rewriting{"top_terms_blended_freqs", orDefault(how.Expansions, defaultExpansions)}
	}
	v = f.Prefix() + v // which may be misspelt too
	length := utf8.RuneCountInString(v)
	edits := how.editsOf(length)
	if length == 0 {
		edits = 0
	}
	accept, err := automaton.Fuzzy(v, edits, how.Prefix, how.Transposing)
	if err != nil {
		return nil, err
	}
	if top.kind == "constant_score" {
		return &constantPlan{&wordsPlan{f.Name(), accept, v + "~" + strconv.Itoa(edits)}, boost}, nil
	}
	return c.chosen(f, accept, length, top, boost)
}

// editsOf is how many edits are allowed in a text of so many characters.
func (f Fuzziness) editsOf(length int) int {
	if !f.Auto {
		return min(max(f.Edits, 0), 2)
	}
	low, high := f.Low, f.High
	if low == 0 && high == 0 {
		low, high = 3, 6
	}
	switch {
	case length < low:
		return 0
	case length < high:
		return 1
	}
	return 2
}
