package query

import (
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Queries in a syntax of their own: query_string, simple_query_string. The syntax is read
// where the fields are known (package search).

// NewQueryString is a query_string with what it has when nothing is said.
func NewQueryString(query string) *search.QueryString {
	return &search.QueryString{
		Common: plain(), Query: query, AllowLeadingWildcard: true, MaxStates: 10000,
		Fuzziness: search.Fuzziness{Set: true, Auto: true, Low: 3, High: 6, Expansions: 50, Transposing: true},
	}
}

func (p *parser) queryString() (search.Query, error) {
	q := NewQueryString("")
	given := false
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Array && name == "fields":
			return p.elements(func() error { return p.fieldBoost("query_string", &q.Fields) })
		case p.kind == token.Array:
			return p.doesNotSupport("query_string", name)
		case !p.isValue():
			return p.unknownToken("query_string", name)
		case name == "query":
			q.Query, given = p.text(), true
			return nil
		}
		if known, err := p.commonOption("query_string", name, &q.Common); known || err != nil {
			return err
		}
		if known, err := p.stringSyntax(name, q); known || err != nil {
			return err
		}
		if known, err := p.stringWords(name, q); known || err != nil {
			return err
		}
		return p.doesNotSupport("query_string", name)
	})
	if err == nil && !given {
		err = p.fail("[query_string] must be provided with a [query]")
	}
	return q, err
}

// stringSyntax reads the options of query_string about its syntax and its parts.
func (p *parser) stringSyntax(name string, q *search.QueryString) (known bool, err error) {
	switch name {
	case "default_field":
		q.DefaultField = p.text()
	case "default_operator":
		q.And, err = p.operator()
	case "allow_leading_wildcard":
		q.AllowLeadingWildcard, err = p.boolean()
	case "analyze_wildcard":
		q.AnalyzeWildcard, err = p.boolean()
	case "auto_generate_synonyms_phrase_query":
		err = p.setNegated(&q.NoSynonyms)
	case "enable_position_increments":
		err = p.setNegated(&q.NoPositions)
	case "escape":
		q.Escape, err = p.boolean()
	case "lenient":
		var lenient bool
		lenient, err = p.boolean()
		q.Lenient = &lenient
	case "max_determinized_states":
		q.MaxStates, err = p.integer()
	case "minimum_should_match":
		q.MinimumShould = p.text()
	case "tie_breaker":
		q.TieBreaker, err = p.optionalFloat()
	case "type":
		q.Type, err = p.matchType()
	default:
		return false, nil
	}
	return true, err
}

// stringWords reads the options of query_string about its words.
func (p *parser) stringWords(name string, q *search.QueryString) (known bool, err error) {
	switch name {
	case "analyzer":
		q.Analyzer = p.text()
	case "quote_analyzer":
		q.QuoteAnalyzer = p.text()
	case "quote_field_suffix":
		q.QuoteSuffix = p.text()
	case "fuzziness":
		err = p.fuzziness(&q.Fuzziness)
	case "fuzzy_max_expansions":
		q.Fuzziness.Expansions, err = p.integer()
	case "fuzzy_prefix_length":
		q.Fuzziness.Prefix, err = p.integer()
	case "fuzzy_transpositions":
		q.Fuzziness.Transposing, err = p.boolean()
	case "fuzzy_rewrite":
		q.FuzzyRewrite = p.text()
	case "rewrite":
		q.Rewrite = p.text()
	case "phrase_slop":
		q.PhraseSlop, err = p.integer()
	case "time_zone":
		if q.Zone, err = date.ParseZone(p.text(), time.LoadLocation); err != nil {
			err = exception.From(err).WithStatus(500)
		}
	default:
		return false, nil
	}
	return true, err
}

func (p *parser) simpleQueryString() (search.Query, error) {
	q := &search.SimpleQueryString{Common: plain(), Fuzziness: search.Fuzziness{Expansions: 50, Transposing: true}}
	given := false
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Array && name == "fields":
			return p.elements(func() error { return p.fieldBoost("simple_query_string", &q.Fields) })
		case p.kind == token.Array:
			return p.fail("[simple_query_string] query does not support [%s]", name)
		case !p.isValue():
			return p.unknownToken("simple_query_string", name)
		case name == "query":
			q.Query, given = p.text(), true
			return nil
		}
		if known, err := p.commonOption("simple_query_string", name, &q.Common); known || err != nil {
			return err
		}
		return p.simpleOption(name, q)
	})
	if err == nil && !given {
		err = p.fail("[simple_query_string] query text missing")
	}
	return q, err
}

func (p *parser) simpleOption(name string, q *search.SimpleQueryString) (err error) {
	switch name {
	case "analyzer":
		q.Analyzer = p.text()
	case "default_operator":
		q.And, err = p.operator()
	case "flags":
		q.Flags, err = p.simpleFlags()
	case "lenient":
		var lenient bool
		lenient, err = p.boolean()
		q.Lenient = &lenient
	case "analyze_wildcard":
		q.AnalyzeWildcard, err = p.boolean()
	case "minimum_should_match":
		q.MinimumShould = p.text()
	case "quote_field_suffix":
		q.QuoteSuffix = p.text()
	case "auto_generate_synonyms_phrase_query":
		err = p.setNegated(&q.NoSynonyms)
	case "fuzzy_prefix_length":
		q.Fuzziness.Prefix, err = p.integer()
	case "fuzzy_max_expansions":
		q.Fuzziness.Expansions, err = p.integer()
	case "fuzzy_transpositions":
		q.Fuzziness.Transposing, err = p.boolean()
	case "lowercase_expanded_terms", "locale": // gone, and let pass
	default:
		err = p.fail("[simple_query_string] unsupported field [%s]", name)
	}
	return err
}

// simpleFlags reads names between |, or the sum of their bits.
func (p *parser) simpleFlags() (string, error) {
	if p.kind == token.Integer || p.kind == token.Float {
		bits, err := p.integer()
		if err != nil || bits < 0 {
			return "", err // all of them
		}
		if bits == 0 {
			return "NONE", nil
		}
		var names []string
		for i, name := range simpleFlags[2:] {
			if bits>>min(i, 9)&1 == 1 { // the last two share a bit
				names = append(names, name)
			}
		}
		return strings.Join(names, "|"), nil
	}
	text, err := p.str()
	if err == nil {
		err = checkFlags(text, "simple_query_string", simpleFlags)
	}
	return text, err
}
