package search

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// simpleFlags are the parts of the syntax of simple_query_string.
type simpleFlags uint16

const (
	simpleAnd simpleFlags = 1 << iota
	simpleNot
	simpleOr
	simplePrefix
	simplePhrase
	simplePrecedence
	simpleEscape
	simpleWhitespace
	simpleFuzzy
	simpleNear
	allSimple simpleFlags = 1<<iota - 1
)

var simpleFlagNames = map[string]simpleFlags{
	"ALL": allSimple, "NONE": 0, "AND": simpleAnd, "NOT": simpleNot, "OR": simpleOr, "PREFIX": simplePrefix, "PHRASE": simplePhrase,
	"PRECEDENCE": simplePrecedence, "ESCAPE": simpleEscape, "WHITESPACE": simpleWhitespace, "FUZZY": simpleFuzzy, "NEAR": simpleNear, "SLOP": simpleNear,
}

// readSimpleFlags reads names between |; nothing means all.
func readSimpleFlags(text string) (flags simpleFlags, err error) {
	if text == "" {
		return allSimple, nil
	}
	for name := range strings.SplitSeq(text, "|") {
		flag, ok := simpleFlagNames[strings.ToUpper(name)]
		switch {
		case !ok:
			return 0, exception.New(exception.IllegalArgument, "Unknown simple_query_string flag [%s]", name)
		case flag == 0:
			return 0, nil
		}
		flags |= flag
	}
	return flags, nil
}

// simpleQuery reads simple_query_string, whose syntax has no errors, and makes plans of
// its parts as it finds them.
type simpleQuery struct {
	c     *compiler
	q     *SimpleQueryString
	flags simpleFlags
	list  []weighed
	m     *several
	made  int // clauses so far

	text  string
	at    int
	close map[int]int // where an open bracket is closed
	depth int
}

// simpleQueryString makes a plan of a simple_query_string.
func (c *compiler) simpleQueryString(q *SimpleQueryString, boost float32) (plan, error) {
	asked, all := q.Fields, hasAll(q.Fields)
	if len(asked) == 0 {
		asked, all = c.defaults()
	}
	flags, err := readSimpleFlags(q.Flags)
	if err != nil {
		return nil, err
	}
	s := &simpleQuery{c: c, q: q, flags: flags, text: q.Query}
	if s.list, err = c.weighed(asked, ""); err != nil {
		return nil, err
	}
	if _, ok := c.index.Schema.Analysis().Analyzer(q.Analyzer); !ok && q.Analyzer != "" {
		return nil, c.refuse("[simple_query_string] analyzer [%s] not found", q.Analyzer)
	}
	s.m = &several{c: c, kind: "most_fields", tie: 1, wording: wording{
		analyzer: q.Analyzer, and: q.And, noSynonyms: q.NoSynonyms, lenient: all, boost: boost,
	}}
	if q.Lenient != nil {
		s.m.lenient = *q.Lenient
	}
	if strings.Trim(q.Query, "\x00\t\n\v\f\r ") == "*" {
		return allPlan{boost}, nil
	}
	s.pair()
	p, err := s.query(len(s.text))
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nonePlan{}, nil
	}
	return withMinimum(p, q.MinimumShould)
}

func (s *simpleQuery) has(flag simpleFlags) bool { return s.flags&flag != 0 }

// sign reports whether a sign stands at a place, and means something.
func (s *simpleQuery) sign(at int, sign byte, flag simpleFlags) bool {
	return s.text[at] == sign && s.has(flag)
}

// pair finds the brackets that belong together.
func (s *simpleQuery) pair() {
	s.close = map[int]int{}
	var open []int
	for i := 0; i < len(s.text); i++ {
		switch {
		case s.sign(i, '\\', simpleEscape):
			i++
		case s.sign(i, '(', simplePrecedence):
			open = append(open, i)
		case s.sign(i, ')', simplePrecedence) && len(open) > 0:
			s.close[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
}

// simpleState is what has been read of a query: top is what its parts became.
type simpleState struct {
	top       plan
	negated   bool
	operation lexeme // that comes, lexAnd or lexOr; lexEnd: none
	previous  lexeme
}

// query reads up to a place.
func (s *simpleQuery) query(to int) (plan, error) {
	if s.depth++; s.depth > maxDepth {
		return nil, exception.New(exception.IllegalArgument, "a simple_query_string with more than %d brackets in one another is not supported by this version of reshelve", maxDepth)
	}
	defer func() { s.depth-- }()
	state := &simpleState{}
	for s.at < to {
		var err error
		switch ch := s.text[s.at]; {
		case s.sign(s.at, '(', simplePrecedence):
			err = s.brackets(state, to)
		case s.sign(s.at, ')', simplePrecedence):
			s.at++
		case s.sign(s.at, '"', simplePhrase):
			err = s.phrase(state, to)
		case s.sign(s.at, '+', simpleAnd):
			state.operate(lexAnd)
			s.at++
		case s.sign(s.at, '|', simpleOr):
			state.operate(lexOr)
			s.at++
		case s.sign(s.at, '-', simpleNot):
			state.negated = !state.negated
			s.at++
			continue
		case (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') && s.has(simpleWhitespace):
			s.at++
		default:
			err = s.word(state, to)
		}
		if err != nil {
			return nil, err
		}
		state.negated = false
	}
	return state.top, nil
}

// operate notes + or | between two parts; the first counts.
func (state *simpleState) operate(with lexeme) {
	if state.operation == lexEnd && state.top != nil {
		state.operation = with
	}
}

// brackets reads what is between brackets. One that is not closed means nothing.
func (s *simpleQuery) brackets(state *simpleState, to int) error {
	end, ok := s.close[s.at]
	s.at++
	switch {
	case !ok || end >= to:
		return nil
	case end == s.at:
		state.operation = lexEnd
	default:
		p, err := s.query(end)
		if err != nil {
			return err
		}
		if err := s.add(state, p); err != nil {
			return err
		}
	}
	s.at = end + 1
	return nil
}

// phrase reads what is between quotes, with ~ and a number. A quote that is not closed
// means nothing.
func (s *simpleQuery) phrase(state *simpleState, to int) error {
	start := s.at + 1
	var text strings.Builder
	at := start
	for ; at < to && !s.sign(at, '"', simplePhrase); at++ {
		if s.sign(at, '\\', simpleEscape) {
			if at++; at == to {
				break
			}
		}
		text.WriteByte(s.text[at])
	}
	switch {
	case at >= to:
		s.at = start
		return nil
	case at == start:
		state.operation = lexEnd
		s.at = at + 1
		return nil
	}
	slop := 0
	s.at = at + 1
	if s.at < to && s.sign(s.at, '~', simpleNear) {
		if s.at+1 < to {
			slop = s.number(to)
		}
		s.at++
	}
	p, err := s.phrased(text.String(), slop)
	if err != nil {
		return err
	}
	return s.add(state, p)
}

// number reads what is behind ~, where s.at is: up to what ends a word. It leaves s.at one
// before that. Nothing is 2, and what is no number 0.
func (s *simpleQuery) number(to int) int {
	end := s.at + 1
	for end < to && !s.ends(end) {
		end++
	}
	text := s.text[s.at+1 : end]
	s.at = end
	if text == "" {
		return 2
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(max(n, 0))
}

// ends reports whether a word ends at a place.
func (s *simpleQuery) ends(at int) bool {
	switch s.text[at] {
	case '"':
		return s.has(simplePhrase)
	case '|':
		return s.has(simpleOr)
	case '+':
		return s.has(simpleAnd)
	case '(', ')':
		return s.has(simplePrecedence)
	case ' ', '\t', '\n', '\r':
		return s.has(simpleWhitespace)
	}
	return false
}

// word reads a word, with * or ~ behind it.
func (s *simpleQuery) word(state *simpleState, to int) error {
	var text strings.Builder
	prefix, fuzzy := false, false
	for s.at < to {
		escaped := s.sign(s.at, '\\', simpleEscape)
		if escaped {
			prefix = false
			if s.at++; s.at == to {
				break
			}
		} else if s.ends(s.at) {
			break
		} else if text.Len() > 0 && s.sign(s.at, '~', simpleFuzzy) {
			fuzzy = true
			break
		} else {
			prefix = text.Len() > 0 && s.sign(s.at, '*', simplePrefix)
		}
		_, n := utf8.DecodeRuneInString(s.text[s.at:to])
		text.WriteString(s.text[s.at : s.at+n])
		s.at += n
	}
	if text.Len() == 0 {
		return nil
	}
	var p plan
	var err error
	word := text.String()
	switch edits := 0; {
	case fuzzy:
		if edits = min(s.number(to), 2); edits > 0 {
			p, err = s.fuzzy(word, edits)
			break
		}
		p, err = s.m.match(s.list, word)
	case prefix:
		p, err = s.prefixed(word[:len(word)-1])
	default:
		p, err = s.m.match(s.list, word)
	}
	if err != nil {
		return err
	}
	return s.add(state, p)
}

// add puts a part to what was read before it. A change of the operation takes all of that
// as one part.
func (s *simpleQuery) add(state *simpleState, p plan) error {
	if p == nil {
		return nil
	}
	if s.made += clauses(p); s.made > orDefault(s.c.limits.Clauses, defaultClauses) {
		return &early{exception.New(exception.TooManyNestedClauses, "Query contains too many nested clauses; maxClauseCount is set to %d",
			orDefault(s.c.limits.Clauses, defaultClauses))}
	}
	if state.negated {
		p = &boolPlan{mustNot: []plan{p}, should: []plan{allPlan{s.m.boost}}, minShould: 1}
	}
	if state.top == nil {
		state.top, state.operation = p, lexEnd
		return nil
	}
	if state.operation == lexEnd {
		if state.operation = lexOr; s.q.And {
			state.operation = lexAnd
		}
	}
	if state.previous != state.operation {
		before := state.top
		state.top = &boolPlan{}
		state.put(before)
	}
	state.put(p)
	state.previous, state.operation = state.operation, lexEnd
	return nil
}

// put adds a clause to the top, as the operation says.
func (state *simpleState) put(p plan) {
	b := state.top.(*boolPlan)
	if state.operation == lexAnd {
		b.must = append(b.must, p)
		return
	}
	b.should, b.minShould = append(b.should, p), 1
}

// each makes the best of what is made of each field.
func (s *simpleQuery) each(do func(w weighed, boost float32) (plan, error)) (plan, error) {
	var parts []plan
	for _, w := range s.list {
		if w.field == nil {
			parts = append(parts, nonePlan{})
			continue
		}
		p, err := do(w, s.m.boost*w.boost)
		if p, err = (&builder{wording: s.m.wording}).forgive(p, err); err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, ownBoost(p, w.boost))
		}
	}
	if len(parts) == 0 {
		return nonePlan{}, nil
	}
	return best(parts, 1), nil
}

// normal is a text in the form of a field's words.
func (s *simpleQuery) normal(f *fields.Field, text string) string {
	return (&queryString{c: s.c, q: &QueryString{Analyzer: s.q.Analyzer}}).normal(f, text)
}

func (s *simpleQuery) fuzzy(word string, edits int) (plan, error) {
	how := s.q.Fuzziness
	how.Auto, how.Edits = false, edits
	return s.each(func(w weighed, boost float32) (plan, error) {
		return s.c.fuzzyWord(w.field, s.normal(w.field, word), how, "", boost)
	})
}

func (s *simpleQuery) prefixed(word string) (plan, error) {
	return s.each(func(w weighed, boost float32) (plan, error) {
		if !s.q.AnalyzeWildcard {
			return s.c.prefixOf(w.field, s.normal(w.field, word), false, "", boost)
		}
		a, err := s.c.analyzerOf(w.field, s.m.wording)
		if err != nil {
			return nil, err
		}
		return s.c.analyzedPrefix(w.field, a.Analyze(nil, []byte(word)), s.q.And, "", boost)
	})
}

func (s *simpleQuery) phrased(text string, slop int) (plan, error) {
	list := s.list
	if s.q.QuoteSuffix != "" {
		var asked []FieldBoost
		for _, w := range s.list {
			asked = append(asked, FieldBoost{w.name, w.boost})
		}
		var err error
		if list, err = s.c.weighed(asked, s.q.QuoteSuffix); err != nil {
			return nil, err
		}
	}
	m := *s.m
	m.kind, m.tie, m.slop = "phrase", 0, slop
	return m.match(list, text)
}
