package search

import (
	"strings"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// What query_string makes of patterns of words.

// wild finds words by * and ?; * alone finds what has the field.
func (s *queryString) wild(pattern, field string, has bool, boost float32) (plan, error) {
	if pattern == "*" && has {
		if field == "*" {
			return allPlan{boost}, nil
		}
		return s.c.exists(&Exists{Field: field}, boost)
	}
	return s.each(field, has, boost, func(w weighed, boost float32) (plan, error) {
		switch {
		case pattern == "*":
			return s.c.exists(&Exists{Field: w.name}, boost)
		case !s.q.AllowLeadingWildcard && (pattern[0] == '*' || pattern[0] == '?'):
			return nil, parseFailure("'*' or '?' not allowed as first character in WildcardQuery")
		case w.field.Type() == "flat_object": // looked for where it has no terms
			return nonePlan{}, nil
		case w.field.Kind() != fields.Text && s.q.Analyzer == "":
			return s.c.wildcardOf(w.field, pattern, false, s.q.Rewrite, boost)
		}
		normal := func(part string) (string, error) { return s.normal(w.field, part), nil }
		pattern, err := normalParts(pattern, normal)
		if err != nil {
			return nil, err
		}
		return s.c.wildcardOf(w.field, pattern, false, s.q.Rewrite, boost)
	})
}

// prefixes finds words by what they begin with.
func (s *queryString) prefixes(v string) func(w weighed, boost float32) (plan, error) {
	return func(w weighed, boost float32) (plan, error) {
		f := w.field
		switch {
		case f.Kind() == fields.Opaque:
			return nonePlan{}, nil
		case f.Kind() != fields.Text:
			return s.c.prefixOf(f, v, false, s.q.Rewrite, boost)
		case !s.q.AnalyzeWildcard:
			return s.c.prefixOf(f, s.normal(f, v), false, s.q.Rewrite, boost)
		}
		a := f.SearchAnalyzer(false)
		if s.q.Analyzer != "" {
			a, _ = s.c.index.Schema.Analysis().Analyzer(s.q.Analyzer)
		}
		return s.c.analyzedPrefix(f, a.Analyze(nil, []byte(v)), s.q.And, s.q.Rewrite, boost)
	}
}

// analyzedPrefix finds words of which the last is a beginning; nil when there are none.
func (c *compiler) analyzedPrefix(f *fields.Field, tokens []analysis.Token, and bool, rewrite string, boost float32) (plan, error) {
	b := &builder{c: c, field: f, wording: wording{boost: boost}}
	var parts []plan
	for len(tokens) > 0 {
		n := 1
		for n < len(tokens) && tokens[n].Position == tokens[0].Position {
			n++
		}
		p, err := b.synonyms(tokens[:n])
		if n == len(tokens) {
			p, err = c.beginnings(f, tokens, rewrite, boost)
		}
		if err != nil {
			return nil, err
		}
		parts, tokens = append(parts, p), tokens[n:]
	}
	switch len(parts) {
	case 0:
		return nil, nil
	case 1:
		return parts[0], nil
	}
	return c.joined(parts, and)
}

// beginnings finds words that begin with one of some tokens.
func (c *compiler) beginnings(f *fields.Field, tokens []analysis.Token, rewrite string, boost float32) (plan, error) {
	var parts []plan
	for _, t := range tokens {
		p, err := c.prefixOf(f, string(t.Term), false, rewrite, boost)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return c.joined(parts, false)
}

// regexp finds words by a regular expression.
func (s *queryString) regexp(v, field string, has bool, boost float32) (plan, error) {
	if limit, n := orDefault(s.c.limits.Regexp, defaultRegexp), utf16Length(v); n > limit {
		return nil, exception.New(exception.IllegalArgument, "The length of regex [%d] used in the [query_string] has exceeded the allowed maximum of [%d]. "+
			"This maximum can be set by changing the [index.max_regex_length] index level setting.", n, limit)
	}
	return s.each(field, has, boost, func(w weighed, boost float32) (plan, error) {
		switch w.field.Type() {
		case "flat_object": // looked for where it has no terms
			return nonePlan{}, nil
		case "wildcard": // the server looks for short parts of values
			return nil, s.c.unsupported("a regular expression of [query_string] on a field of type [wildcard]")
		}
		v := s.normal(w.field, v)
		if w.field.Kind() == fields.Keyword {
			normal, err := s.c.normal(w.field, v)
			if err != nil {
				return nil, err
			}
			v = normal
		}
		limit, err := effort(s.q.MaxStates)
		if err != nil {
			return nil, err
		}
		accept, err := automaton.Regexp(v, automaton.AllFlags, false, limit)
		if err != nil {
			return nil, err
		}
		if s.c.hasForm(w.field, "regexp") != nil { // its terms are no texts
			return nonePlan{}, nil
		}
		return s.c.expanded(w.field, accept, "/"+v+"/", s.q.Rewrite, boost)
	})
}

// normalParts gives what is between the signs of a pattern another form.
func normalParts(pattern string, normal func(string) (string, error)) (string, error) {
	var out, part strings.Builder
	flush := func() error {
		if part.Len() == 0 {
			return nil
		}
		v, err := normal(part.String())
		out.WriteString(v)
		part.Reset()
		return err
	}
	escaped := false
	for _, r := range pattern {
		if !escaped && r != '*' && r != '?' && r != '\\' {
			part.WriteRune(r)
			continue
		}
		if err := flush(); err != nil {
			return "", err
		}
		escaped = !escaped && r == '\\'
		out.WriteRune(r)
	}
	err := flush()
	return out.String(), err
}
