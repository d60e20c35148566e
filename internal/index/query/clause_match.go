package query

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Queries that take a text apart: match and its relatives. The server reads all of them
// in one way; see textQuery.

// newMatch is a match with what it has when nothing is said.
func newMatch() search.Match {
	return search.Match{Common: plain(), Fuzziness: search.Fuzziness{Transposing: true, Expansions: 50}}
}

func (p *parser) match() (search.Query, error) {
	q := newMatch()
	field, given, err := p.textQuery("match", &q.Common, &q.Text, func(name string) (bool, error) {
		switch name {
		case "zero_terms_query":
			return true, p.zeroTerms(&q.ZeroTermsAll)
		case "lenient":
			return true, p.setFlag(&q.Lenient)
		case "auto_generate_synonyms_phrase_query":
			return true, p.setNegated(&q.NoSynonyms)
		}
		return p.matchOption("match", name, &q)
	})
	q.Field = field
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, p.fail("No text specified for text query")
	}
	return &q, checkExpansion("match", q.Fuzziness)
}

func (p *parser) matchBoolPrefix() (search.Query, error) {
	q := newMatch()
	q.BoolPrefix = true
	field, given, err := p.textQuery("match_bool_prefix", &q.Common, &q.Text, func(name string) (bool, error) {
		if name == "cutoff_frequency" {
			return false, nil
		}
		return p.matchOption("match_bool_prefix", name, &q)
	})
	q.Field = field
	return &q, textComplete("match_bool_prefix", err, field, given)
}

func (p *parser) matchPhrase() (search.Query, error) {
	q := &search.MatchPhrase{Common: plain()}
	field, given, err := p.textQuery("match_phrase", &q.Common, &q.Text, func(name string) (bool, error) {
		return p.phraseOption(name, q)
	})
	q.Field = field
	return q, textComplete("match_phrase", err, field, given)
}

func (p *parser) matchPhrasePrefix() (search.Query, error) {
	q := &search.MatchPhrase{Common: plain(), Prefix: true, Expansions: 50}
	field, given, err := p.textQuery("match_phrase_prefix", &q.Common, &q.Text, func(name string) (known bool, err error) {
		if name != "max_expansions" {
			return p.phraseOption(name, q)
		}
		if q.Expansions, err = p.integer(); err == nil && q.Expansions < 0 {
			err = exception.New(exception.IllegalArgument, "No negative maxExpansions allowed.")
		}
		return true, err
	})
	q.Field = field
	return q, textComplete("match_phrase_prefix", err, field, given)
}

func (p *parser) phraseOption(name string, q *search.MatchPhrase) (known bool, err error) {
	switch name {
	case "slop":
		if q.Slop, err = p.integer(); err == nil && q.Slop < 0 {
			err = exception.New(exception.IllegalArgument, "No negative slop allowed.")
		}
	case "analyzer":
		q.Analyzer, err = p.str()
	case "zero_terms_query":
		err = p.zeroTerms(&q.ZeroTermsAll)
	default:
		return false, nil
	}
	return true, err
}

// textQuery reads {"field": text} or {"field": {"query": text, …}}, where option reads
// what is neither the text nor common.
func (p *parser) textQuery(clause string, c *search.Common, text *fields.Value, option func(name string) (known bool, err error)) (field string, given bool, err error) {
	field, err = p.onField(clause, func() error {
		if p.kind == token.Null {
			return nil
		}
		_, err := p.str()
		*text, given = p.scalar(), true
		return err
	}, func(name string) error {
		if !p.isValue() {
			return p.unknownToken(clause, name)
		}
		if name == "query" {
			*text, given = p.scalar(), true
			return nil
		}
		known, err := p.commonOption(clause, name, c)
		if !known && err == nil {
			known, err = option(name)
		}
		if !known && err == nil {
			err = p.doesNotSupport(clause, name)
		}
		return err
	})
	return field, given, err
}

// textComplete is the error of a query on a text: the one met, or about what is missing.
func textComplete(clause string, err error, field string, given bool) error {
	switch {
	case err != nil:
		return err
	case field == "" && !given:
		return exception.New(exception.IllegalArgument, "[%s] requires fieldName", clause)
	case !given:
		return exception.New(exception.IllegalArgument, "[%s] requires query value", clause)
	}
	return nil
}

// matchOption reads what match, match_bool_prefix and multi_match have.
func (p *parser) matchOption(clause, name string, q *search.Match) (known bool, err error) {
	switch name {
	case "operator":
		q.And, err = p.operator()
	case "analyzer":
		q.Analyzer, err = p.str()
	case "minimum_should_match":
		q.MinimumShould, err = p.strOrNull()
	case "fuzziness":
		err = p.fuzziness(&q.Fuzziness)
	case "prefix_length":
		if q.Fuzziness.Prefix, err = p.integer(); err == nil {
			err = checkExpansion(clause, q.Fuzziness)
		}
	case "max_expansions":
		if q.Fuzziness.Expansions, err = p.integer(); err == nil {
			err = checkExpansion(clause, q.Fuzziness)
		}
	case "fuzzy_transpositions":
		q.Fuzziness.Transposing, err = p.boolean()
	case "fuzzy_rewrite":
		q.FuzzyRewrite, err = p.strOrNull()
	case "cutoff_frequency":
		_, err = p.float32() // deprecated: skipping is exact without it
	default:
		return false, nil
	}
	return true, err
}

func checkExpansion(clause string, f search.Fuzziness) error {
	switch {
	case f.Prefix < 0 && clause == "multi_match":
		return exception.New(exception.IllegalArgument, "No negative prefix length allowed.")
	case f.Prefix < 0:
		return exception.New(exception.IllegalArgument, "[%s] requires prefix length to be non-negative.", clause)
	case f.Expansions <= 0 && clause == "multi_match":
		return exception.New(exception.IllegalArgument, "Max expansions must be strictly great than zero.")
	case f.Expansions <= 0:
		return exception.New(exception.IllegalArgument, "[%s] requires maxExpansions to be positive.", clause)
	}
	return nil
}

func (p *parser) setFlag(into *bool) (err error) {
	*into, err = p.boolean()
	return err
}

func (p *parser) setNegated(into *bool) error {
	yes, err := p.boolean()
	*into = !yes
	return err
}

func (p *parser) operator() (and bool, err error) {
	text, err := p.str()
	if err != nil {
		return false, err
	}
	return parseOperator(text)
}

func parseOperator(text string) (and bool, err error) {
	upper := strings.ToUpper(text)
	if upper != "AND" && upper != "OR" {
		return false, noConstant("index.query.Operator", upper)
	}
	return upper == "AND", nil
}

func (p *parser) zeroTerms(all *bool) error {
	switch text := p.text(); strings.ToLower(text) {
	case "none", "all":
		*all = strings.EqualFold(text, "all")
		return nil
	default:
		return p.fail("Unsupported zero_terms_query value [%s]", text)
	}
}

func (p *parser) multiMatch() (search.Query, error) {
	q := &search.MultiMatch{Common: plain(), Match: newMatch(), Expansions: 50}
	given, cutoff := false, false
	err := p.tokens(func(name string) (err error) {
		cutoff = cutoff || name == "cutoff_frequency"
		switch {
		case name == "fields" && p.kind == token.Array:
			return p.elements(func() error { return p.fieldBoost("multi_match", &q.Fields) })
		case name == "fields" && p.isValue():
			return p.fieldBoost("multi_match", &q.Fields)
		case name == "fields":
			return p.doesNotSupport("multi_match", name)
		case !p.isValue():
			return p.unknownToken("multi_match", name)
		}
		known, err := p.commonOption("multi_match", name, &q.Common)
		if !known && err == nil {
			known, err = p.multiMatchOption(name, q, &given)
		}
		if !known && err == nil {
			err = p.doesNotSupport("multi_match", name)
		}
		return err
	})
	q.Expansions = q.Match.Fuzziness.Expansions
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, p.fail("No text specified for multi_match query")
	}
	return q, p.checkType(q, cutoff)
}

// checkType refuses what a type of match cannot do.
func (p *parser) checkType(q *search.MultiMatch, cutoff bool) error {
	switch {
	case q.Type == "bool_prefix" && q.Slop != 0:
		return p.fail("[slop] not allowed for type [bool_prefix]")
	case q.Type == "bool_prefix" && cutoff:
		return p.fail("[cutoff_frequency] not allowed for type [bool_prefix]")
	case q.Match.Fuzziness.Set && slices.Contains([]string{"cross_fields", "phrase", "phrase_prefix"}, q.Type):
		return p.fail("Fuzziness not allowed for type [%s]", q.Type)
	}
	return nil
}

func (p *parser) multiMatchOption(name string, q *search.MultiMatch, given *bool) (known bool, err error) {
	switch name {
	case "query":
		q.Match.Text, *given = p.scalar(), true
	case "type":
		q.Type, err = p.matchType()
	case "slop":
		if q.Slop, err = p.integer(); err == nil && q.Slop < 0 {
			err = exception.New(exception.IllegalArgument, "No negative slop allowed.")
		}
	case "tie_breaker":
		q.TieBreaker, err = p.optionalFloat()
	case "lenient":
		q.Match.Lenient, err = p.boolean()
	case "zero_terms_query":
		err = p.zeroTerms(&q.Match.ZeroTermsAll)
	case "auto_generate_synonyms_phrase_query":
		err = p.setNegated(&q.Match.NoSynonyms)
	default:
		return p.matchOption("multi_match", name, &q.Match)
	}
	return true, err
}

func (p *parser) optionalFloat() (*float32, error) {
	f, err := p.float32()
	return &f, err
}

func (p *parser) matchType() (string, error) {
	text, err := p.str()
	if err == nil && !slices.Contains([]string{"best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"}, text) {
		err = exception.New(exception.OpenSearchParse, "failed to parse [multi_match] query type [%s]. unknown type.", text)
	}
	return text, err
}

// fieldBoost adds the field, or the pattern of fields, that the last token names, with
// ^ and a number behind it as its boost.
func (p *parser) fieldBoost(clause string, into *[]search.FieldBoost) error {
	text, err := p.str()
	if err != nil {
		return err
	}
	f := search.FieldBoost{Field: text, Boost: 1}
	if name, boost, found := strings.Cut(text, "^"); found {
		number, err := javaFloat(boost, 32)
		if err != nil {
			return err
		}
		f = search.FieldBoost{Field: name, Boost: float32(number)}
	}
	if f.Boost < 0 {
		return negativeBoost(clause)
	}
	for i, known := range *into { // the server keeps a map: the last boost counts
		if known.Field == f.Field {
			(*into)[i] = f
			return nil
		}
	}
	*into = append(*into, f)
	return nil
}
