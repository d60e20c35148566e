package search

import (
	"errors"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// queryString makes plans of the parts of a query_string.
type queryString struct {
	c       *compiler
	q       *QueryString
	field   string // default_field; "": fields
	fields  []FieldBoost
	tie     float32
	lenient bool
}

// queryString makes a plan of a query_string.
func (c *compiler) queryString(q *QueryString, boost float32) (plan, error) {
	if q.DefaultField != "" && len(q.Fields) > 0 {
		return nil, exception.New(exception.QueryValidation, "Validation Failed: 1: [query_string] cannot use [fields] parameter in conjunction with [default_field];")
	}
	s := &queryString{c: c, q: q, field: q.DefaultField, fields: q.Fields, tie: tieOf(q.Type, q.TieBreaker)}
	all := s.field == "*"
	if s.field == "" && len(s.fields) > 0 {
		all = hasAll(s.fields)
	} else if s.field == "" {
		if s.fields, all = c.defaults(); all {
			s.field = "*"
		}
	}
	if s.lenient = all || c.index.Lenient; q.Lenient != nil {
		s.lenient = *q.Lenient
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if strings.TrimSpace(q.Query) == "" {
		return nonePlan{}, nil
	}
	p, err := s.parse(boost)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nonePlan{}, nil
	}
	return withMinimum(p, q.MinimumShould)
}

// check refuses analyzers and rewrites that are not known.
func (s *queryString) check() error {
	known := s.c.index.Schema.Analysis()
	if _, ok := known.Analyzer(s.q.Analyzer); !ok && s.q.Analyzer != "" {
		return s.c.refuse("[query_string] analyzer [%s] not found", s.q.Analyzer)
	}
	if _, ok := known.Analyzer(s.q.QuoteAnalyzer); !ok && s.q.QuoteAnalyzer != "" {
		return s.c.refuse("[query_string] quote_analyzer [%s] not found", s.q.QuoteAnalyzer)
	}
	for _, rewrite := range []string{s.q.FuzzyRewrite, s.q.Rewrite} {
		if _, err := readRewrite(rewrite); err != nil {
			return err
		}
	}
	return nil
}

// parse tells what is wrong with the syntax as the server does.
func (s *queryString) parse(boost float32) (plan, error) {
	text := s.q.Query
	if s.q.Escape {
		text = escapeSyntax(text)
	}
	tree, err := readQueryString(text)
	var p plan
	if err == nil {
		p, err = s.plan(tree, boost)
	}
	var e *exception.Error
	if !errors.As(err, &e) {
		return p, err
	}
	switch e.Type {
	case exception.TokenManager, exception.OpenSearchParse:
		if !e.IsPlain() { // of a date
			return nil, err
		}
		cannot := exception.New(exception.OpenSearchParse, "Cannot parse '%s': %s", text, e.Reason).Plainly().CausedBy(e)
		return nil, s.c.refuse("Failed to parse query [%s]", s.q.Query).CausedBy(cannot)
	case exception.TooManyClauses:
		cannot := exception.New(exception.OpenSearchParse, "Cannot parse '%s': too many boolean clauses", text).Plainly().CausedBy(e)
		return nil, s.c.refuse("Failed to parse query [%s]", s.q.Query).CausedBy(cannot)
	}
	return nil, err
}

// escapeSyntax takes the meaning of all signs of the syntax away.
func escapeSyntax(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\+-!():^[]"{}~*?|&/`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plan makes a plan of a part; nil when the analyzers leave nothing of it.
func (s *queryString) plan(q *written, boost float32) (plan, error) {
	p, err := s.part(q, boost*q.boost)
	return ownBoost(p, q.boost), err
}

func (s *queryString) part(q *written, boost float32) (plan, error) {
	if q.parts != nil {
		return s.several(q, boost)
	}
	field, has := q.field, q.hasField
	if !has && s.field != "" {
		field, has = s.field, true
	}
	if has && field == "_exists_" && (q.kind == lexTerm && q.tilde == "" || q.kind == lexQuoted) {
		return s.c.exists(&Exists{Field: q.text}, boost)
	}
	switch {
	case q.kind == lexRangeFrom:
		return s.ranged(q, field, has, boost)
	case q.kind == lexStar, q.kind == lexWild:
		return s.wild(q.text, field, has, boost)
	case q.kind == lexQuoted:
		return s.quoted(q, field, has, boost)
	case q.kind == lexPrefix:
		return s.each(field, has, boost, s.prefixes(q.text))
	case q.kind == lexRegexp:
		return s.regexp(q.text, field, has, boost)
	case q.tilde != "":
		return s.fuzzy(q, field, has, boost)
	}
	return s.words(q.text, field, has, boost)
}

// several combines parts as Lucene does: AND makes what is before it needed too, and OR
// takes the need away again where all is needed.
func (s *queryString) several(q *written, boost float32) (plan, error) {
	var list clauseList
	var first plan
	for i, part := range q.parts {
		p, err := s.plan(part.of, boost)
		if err != nil {
			return nil, err
		}
		if part.many {
			list.addMany(p, s.q.And)
		} else {
			list.add(p, part, s.q.And)
		}
		if i == 0 && q.alone {
			first = p
		}
		if err := s.c.countClauses(len(list)); err != nil {
			return nil, err
		}
	}
	if len(list) == 1 && first != nil {
		return first, nil
	}
	return list.plan(), nil
}

// clauseList are the clauses of a bool query while it is read.
type clauseList []struct {
	of    plan
	occur lexeme // lexPlus, lexMinus, or lexEnd
}

// need changes what the last clause is, unless it is prohibited.
func (l clauseList) need(occur lexeme) {
	if n := len(l); n > 0 && l[n-1].occur != lexMinus {
		l[n-1].occur = occur
	}
}

func (l *clauseList) add(p plan, part writtenPart, and bool) {
	switch {
	case part.conjunction == lexAnd:
		l.need(lexPlus)
	case part.conjunction == lexOr && and:
		l.need(lexEnd)
	}
	if p == nil {
		return
	}
	occur := part.sign
	if occur != lexMinus && (part.conjunction == lexAnd || and && part.conjunction != lexOr) {
		occur = lexPlus
	} else if and && occur == lexPlus {
		occur = lexEnd
	}
	l.append(p, occur)
}

func (l *clauseList) append(p plan, occur lexeme) {
	*l = append(*l, struct {
		of    plan
		occur lexeme
	}{p, occur})
}

// addMany adds words side by side: each a clause.
func (l *clauseList) addMany(p plan, and bool) {
	occur := lexEnd
	if and {
		occur = lexPlus
	}
	b, ok := p.(*boolPlan)
	switch {
	case p == nil:
	case ok:
		for _, of := range append(b.must, b.should...) {
			l.append(of, occur)
		}
	default:
		l.append(p, occur)
	}
}

// plan is a bool query; nil without clauses. One that only prohibits finds all others.
func (l clauseList) plan() plan {
	if len(l) == 0 {
		return nil
	}
	b := &boolPlan{}
	for _, c := range l {
		switch c.occur {
		case lexPlus:
			b.must = append(b.must, c.of)
		case lexMinus:
			b.mustNot = append(b.mustNot, c.of)
		default:
			b.should = append(b.should, c.of)
		}
	}
	if len(b.must)+len(b.should) == 0 {
		b.filter = []plan{allPlan{0}}
	} else if len(b.must) == 0 {
		b.minShould = 1
	}
	return b
}

// list finds the fields that a part means.
func (s *queryString) list(field string, has, quoted bool) ([]weighed, error) {
	suffix := ""
	if quoted {
		suffix = s.q.QuoteSuffix
	}
	if has {
		return s.c.weighed([]FieldBoost{{field, 1}}, suffix)
	}
	return s.c.weighed(s.fields, suffix)
}

// each makes the best of what is made of each field. Those that are not mapped find nothing.
func (s *queryString) each(field string, has bool, boost float32, do func(w weighed, boost float32) (plan, error)) (plan, error) {
	list, err := s.list(field, has, false)
	if err != nil || len(list) == 0 {
		return nonePlan{}, err
	}
	var parts []plan
	for _, w := range list {
		if w.field == nil {
			parts = append(parts, nonePlan{})
			continue
		}
		p, err := do(w, boost*w.boost)
		if p, err = s.forgive(p, err); err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, ownBoost(p, w.boost))
		}
	}
	return best(parts, s.tie), nil
}

func (s *queryString) forgive(p plan, err error) (plan, error) {
	return (&builder{wording: wording{lenient: s.lenient}}).forgive(p, err)
}

// matching is how texts are looked for.
func (s *queryString) matching(boost float32) *several {
	return &several{c: s.c, kind: s.q.Type, tie: s.tie, wording: wording{
		analyzer: s.q.Analyzer, and: s.q.And, slop: s.q.PhraseSlop, expansions: defaultExpansions, lenient: s.lenient,
		noSynonyms: s.q.NoSynonyms, noPositions: s.q.NoPositions, boost: boost,
	}}
}

// words looks for a text; behind the name of a field, <, <=, > and >= make it a range.
func (s *queryString) words(text, field string, has bool, boost float32) (plan, error) {
	if has && utf16Length(text) > 1 {
		if q := oneSided(text); q != nil {
			return s.ranged(q, field, has, boost)
		}
		if f, ok := s.c.field(field); ok && f.Kind() == fields.Date && s.q.Zone != nil {
			return s.ranged(&written{text: text, to: text, ends: [2]bool{true, true}}, field, has, boost)
		}
	}
	list, err := s.list(field, has, false)
	if err != nil {
		return nil, err
	}
	return s.matching(boost).match(list, text)
}

// oneSided is a range with one end; nil for other texts.
func oneSided(text string) *written {
	including := len(text) > 2 && text[1] == '='
	value := text[1:]
	if including {
		value = text[2:]
	}
	switch text[0] {
	case '>':
		return &written{text: value, open: [2]bool{false, true}, ends: [2]bool{including, true}}
	case '<':
		return &written{to: value, open: [2]bool{true, false}, ends: [2]bool{true, including}}
	}
	return nil
}

// quoted looks for a phrase.
func (s *queryString) quoted(q *written, field string, has bool, boost float32) (plan, error) {
	list, err := s.list(field, has, true)
	if err != nil {
		return nil, err
	}
	m := s.matching(boost)
	m.kind = "phrase"
	if s.q.QuoteAnalyzer != "" {
		m.analyzer = s.q.QuoteAnalyzer
	}
	if q.tilde != "" {
		if slop, err := strconv.ParseFloat(q.tilde[1:], 32); err == nil {
			m.slop = int(slop)
		}
		if m.slop < 0 {
			return nil, exception.New(exception.IllegalArgument, "Slop must be >= 0, got %d", m.slop)
		}
	}
	return m.match(list, q.text)
}

func (s *queryString) ranged(q *written, field string, has bool, boost float32) (plan, error) {
	return s.each(field, has, boost, func(w weighed, boost float32) (plan, error) {
		asked := fields.Asked{Zone: s.q.Zone}
		if !q.open[0] && q.text != "*" {
			asked.From = &fields.Bound{Value: text(s.normal(w.field, q.text)), Include: q.ends[0]}
		}
		if !q.open[1] && q.to != "*" {
			asked.To = &fields.Bound{Value: text(s.normal(w.field, q.to)), Include: q.ends[1]}
		}
		m, err := w.field.Range(asked, s.c.now)
		if err != nil {
			return nil, err
		}
		if asked.From == nil && asked.To == nil && !m.None {
			return s.c.exists(&Exists{Field: w.name}, boost)
		}
		return matched(w.field, m, boost), nil
	})
}

// normal is a text as the analyzer of a field writes its words, without taking it apart.
func (s *queryString) normal(f *fields.Field, text string) string {
	switch {
	case s.q.Analyzer != "":
		a, _ := s.c.index.Schema.Analysis().Analyzer(s.q.Analyzer)
		return normalText(a, text)
	case f.Kind() == fields.Text:
		return normalText(f.SearchAnalyzer(false), text)
	}
	return text
}

// normalText is a text in the form of an analyzer's words: what changes letters alone, not
// what takes apart, leaves out or shortens.
func normalText(a analysis.Analyzer, text string) string {
	if n, ok := a.(analysis.Normalizer); ok {
		return string(n.Normalize(nil, []byte(text)))
	}
	if probe := a.Analyze(nil, []byte("Zyx")); len(probe) == 1 && string(probe[0].Term) == "zyx" {
		return strings.ToLower(text)
	}
	return text
}

func (s *queryString) fuzzy(q *written, field string, has bool, boost float32) (plan, error) {
	edits, err := s.edits(q)
	if err != nil {
		return nil, err
	}
	return s.each(field, has, boost, func(w weighed, boost float32) (plan, error) {
		how := s.q.Fuzziness
		how.Auto, how.Edits = false, edits
		if w.field.Type() == "flat_object" { // looked for where it has no terms
			return nonePlan{}, nil
		}
		return s.c.fuzzyTerm(w.field, s.normal(w.field, q.text), how, "", boost)
	})
}

// edits reads ~, ~2, ~0.5 or ~AUTO.
func (s *queryString) edits(q *written) (int, error) {
	how := s.q.Fuzziness
	if value := strings.ToUpper(q.tilde[1:]); value == "AUTO" {
		how = Fuzziness{Auto: true}
	} else if value != "" {
		edits, err := strconv.ParseFloat(value, 32)
		if err != nil {
			return 0, exception.NotNumber(value)
		}
		if edits < 0 {
			return 0, exception.New(exception.IllegalArgument, "Valid edit distances are [0, 1, 2] but was [%s]", value)
		}
		how = Fuzziness{Edits: int(min(edits, 2))}
	} else if !how.Set {
		how.Auto = true
	}
	return how.editsOf(len([]rune(q.text))), nil
}
