package query

import (
	"maps"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// clauses read the objects of the queries, each called when the bracket of its object
// was the last token, and ending with the one that closes it. Nil: the server knows the
// query, and this version does not.
var clauses map[string]func(p *parser) (search.Query, error)

func init() { // not a literal: queries hold queries
	clauses = map[string]func(p *parser) (search.Query, error){
		"match_all": (*parser).matchAll, "match_none": (*parser).matchNone, "ids": (*parser).ids, "exists": (*parser).exists,
		"term": (*parser).term, "terms": (*parser).terms, "range": (*parser).span, "prefix": (*parser).prefix,
		"wildcard": (*parser).wildcard, "regexp": (*parser).regexp, "fuzzy": (*parser).fuzzy,
		"match": (*parser).match, "match_bool_prefix": (*parser).matchBoolPrefix, "match_phrase": (*parser).matchPhrase,
		"match_phrase_prefix": (*parser).matchPhrasePrefix, "multi_match": (*parser).multiMatch,
		"bool": (*parser).combined, "constant_score": (*parser).constantScore, "dis_max": (*parser).disMax,
		"boosting": (*parser).boosting, "nested": (*parser).nested, "wrapper": (*parser).wrapper,
		"function_score": (*parser).functionScore, "query_string": (*parser).queryString,
		"simple_query_string": (*parser).simpleQueryString,
		"geo_bounding_box":    (*parser).geoBox, "geo_distance": (*parser).geoDistance,
	}
	for name := range strings.FieldsSeq(`common distance_feature field_masking_span geo_polygon geo_shape has_child has_parent
		hybrid intervals knn more_like_this neural parent_id percolate rank_feature script script_score span_containing
		span_first span_multi span_near span_not span_or span_term span_within template terms_set xy_shape`) {
		clauses[name] = nil
	}
}

// query reads a query, whose bracket was the last token.
func (p *parser) query() (search.Query, error) {
	if p.kind != token.Object {
		// The server looks whether the next token is one, and tells its place.
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.kind != token.Object {
			return nil, p.fail("[_na] query malformed, must start with start_object")
		}
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind == token.ObjectEnd {
		line, column := p.read.Place()
		return nil, exception.New(exception.IllegalArgument, "query malformed, empty clause found at [%d:%d]", line, column)
	}
	name := p.text()
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind != token.Object {
		return nil, p.fail("[%s] query malformed, no start_object after query name", name)
	}
	read, known := clauses[name]
	switch {
	case !known:
		return nil, p.unknownQuery(name)
	case read == nil:
		return nil, p.unsupported("[" + name + "] query")
	}
	q, err := read(p)
	if err != nil {
		return nil, err
	}
	if err = p.next(); err == nil && p.kind != token.ObjectEnd {
		err = p.fail("[%s] malformed query, expected [END_OBJECT] but found [%s]", name, p.kind)
	}
	return q, err
}

func (p *parser) unknownQuery(name string) error {
	reason := "unknown query [" + name + "]"
	if proposed := exception.DidYouMean(name, maps.Keys(clauses), 0.5); proposed != "" {
		reason += " " + proposed
	}
	return p.fail("%s", reason).CausedBy(p.notFound(name))
}

// notFound is about a name that has no parser, at the last token.
func (p *parser) notFound(name string) *exception.Error {
	line, column := p.read.Place()
	return exception.New(exception.NamedObjectNotFound, "[%d:%d] unknown field [%s]", line, column, name)
}

// queries reads a query, or an array of them.
func (p *parser) queries() (all []search.Query, err error) {
	err = p.each(func() error {
		if p.kind == token.Array {
			return exception.New(exception.IllegalState, "expected value but got [%s]", p.kind)
		}
		q, err := p.query()
		all = append(all, q)
		return err
	})
	return all, err
}

// plain is what a query has that says nothing.
func plain() search.Common { return search.Common{Boost: 1} }

// commonOption reads the options that every query has.
func (p *parser) commonOption(clause, name string, c *search.Common) (known bool, err error) {
	switch name {
	case "boost":
		c.Boost, err = p.boost(clause)
	case "_name":
		c.Name, err = p.str()
	default:
		return false, nil
	}
	return true, err
}

func (p *parser) boost(clause string) (float32, error) {
	boost, err := p.float32()
	if err == nil && boost < 0 {
		err = negativeBoost(clause)
	}
	return boost, err
}

// negativeBoost tells the name of the query where the server tells all of it.
func negativeBoost(clause string) error {
	return exception.New(exception.IllegalArgument, "negative [boost] are not allowed in [%s], use a value between 0 and 1 to deboost", clause)
}

// commonOptions are those of queries that the server declares.
func (p *parser) commonOptions(clause string, c *search.Common, more map[string]option) map[string]option {
	more["boost"] = option{takesNumber, func() (err error) { c.Boost, err = p.boost(clause); return err }}
	more["_name"] = p.setString(&c.Name)
	return more
}

// place of a mistake again, as a parsing_exception: what the server makes of what it
// says of some declared objects.
func (p *parser) reparsed(err error) error {
	if cause := exception.From(err); cause != nil && (cause.Type == exception.XContentParse || cause.Type == exception.IllegalArgument) {
		return p.fail("%s", cause.Reason).CausedBy(cause)
	}
	return err
}

// unknownToken is about a value of a kind that a query does not take there.
func (p *parser) unknownToken(clause, name string) error {
	return p.fail("[%s] unknown token [%s] after [%s]", clause, p.kind, name)
}

// doesNotSupport is about an option that a query does not have.
func (p *parser) doesNotSupport(clause, name string) error {
	return p.fail("[%s] query does not support [%s]", clause, name)
}

// manyFields is about a second field where there may be one.
func (p *parser) manyFields(clause, first, second string) error {
	return p.fail("[%s] query doesn't support multiple fields, found [%s] and [%s]", clause, first, second)
}

// onField reads {"field": short} or {"field": {long}}: queries of one field. Short reads
// a value that is no object; option reads one token of the long form, by its key.
func (p *parser) onField(clause string, short func() error, option func(name string) error) (field string, err error) {
	found := false
	err = p.tokens(func(name string) error {
		if found {
			if name == field && p.kind != token.ArrayEnd { // a further value of an array, which has no key
				name = "null"
			}
			return p.manyFields(clause, field, name)
		}
		field, found = name, true
		if p.kind == token.Object {
			return p.tokens(option)
		}
		return short()
	})
	return field, err
}

// noField is about a query of one field that names none.
func noField(field string) error {
	if field == "" {
		return exception.New(exception.IllegalArgument, "field name is null or empty")
	}
	return nil
}

// noValue is about a query that needs a value.
func noValue() error { return exception.New(exception.IllegalArgument, "value cannot be null") }
