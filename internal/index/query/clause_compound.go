package query

import (
	"encoding/base64"
	"slices"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Queries of queries: bool, constant_score, dis_max, boosting, nested, wrapper.

// combined reads a bool query.
func (p *parser) combined() (search.Query, error) {
	q := &search.Bool{Common: plain(), AdjustPureNegative: true}
	list := func(into *[]search.Query) option {
		return option{takesObjects | takesNull, func() error {
			if p.kind == token.Null {
				return nil
			}
			all, err := p.queries()
			*into = append(*into, all...)
			return err
		}}
	}
	options := map[string]option{
		"must": list(&q.Must), "filter": list(&q.Filter), "should": list(&q.Should), "must_not": list(&q.MustNot), "mustNot": list(&q.MustNot),
		"minimum_should_match": {takesScalar | takesNull, func() (err error) { q.MinimumShould, err = p.strOrNull(); return err }},
		"adjust_pure_negative": p.setBoolean(&q.AdjustPureNegative),
	}
	return q, p.object("bool", p.commonOptions("bool", &q.Common, options))
}

func (p *parser) constantScore() (search.Query, error) {
	q := &search.ConstantScore{Common: plain()}
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Object && name == "filter":
			if q.Filter != nil {
				return p.fail("[constant_score] accepts only one 'filter' element.")
			}
			q.Filter, err = p.query()
			return err
		case p.kind != token.Object && !p.isValue():
			return p.fail("unexpected token [%s]", p.kind)
		case p.isValue():
			if known, err := p.commonOption("constant_score", name, &q.Common); known || err != nil {
				return err
			}
		}
		return p.doesNotSupport("constant_score", name)
	})
	if err == nil && q.Filter == nil {
		err = p.fail("[constant_score] requires a 'filter' element")
	}
	return q, err
}

func (p *parser) disMax() (search.Query, error) {
	q := &search.DisjunctionMax{Common: plain()}
	found := false
	err := p.tokens(func(name string) (err error) {
		if p.kind == token.Object || p.kind == token.Array {
			if name != "queries" {
				return p.doesNotSupport("dis_max", name)
			}
			found = true
			return p.disjuncts(q)
		}
		if known, err := p.commonOption("dis_max", name, &q.Common); known || err != nil {
			return err
		}
		if name != "tie_breaker" {
			return p.doesNotSupport("dis_max", name)
		}
		q.TieBreaker, err = p.float32()
		return err
	})
	if err == nil && !found {
		err = p.fail("[dis_max] requires 'queries' field with at least one clause")
	}
	return q, err
}

// disjuncts reads one query or an array, where the server looks for at least one.
func (p *parser) disjuncts(q *search.DisjunctionMax) error {
	if p.kind == token.Object {
		one, err := p.query()
		q.Queries = append(q.Queries, one)
		return err
	}
	err := p.elements(func() error {
		if p.kind != token.Object {
			return p.fail("[_na] query malformed, must start with start_object")
		}
		one, err := p.query()
		q.Queries = append(q.Queries, one)
		return err
	})
	if err == nil && len(q.Queries) == 0 {
		err = p.fail("[_na] query malformed, must start with start_object")
	}
	return err
}

func (p *parser) boosting() (search.Query, error) {
	q := &search.Boosting{Common: plain(), NegativeBoost: -1}
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Object && name == "positive":
			q.Positive, err = p.query()
			return err
		case p.kind == token.Object && name == "negative":
			q.Negative, err = p.query()
			return err
		case p.kind == token.Object:
			return p.doesNotSupport("boosting", name)
		case !p.isValue():
			return nil
		case name == "negative_boost":
			q.NegativeBoost, err = p.float32()
			return err
		}
		if known, err := p.commonOption("boosting", name, &q.Common); known || err != nil {
			return err
		}
		return p.doesNotSupport("boosting", name)
	})
	switch {
	case err != nil:
	case q.Positive == nil:
		err = p.fail("[boosting] query requires 'positive' query to be set'")
	case q.Negative == nil:
		err = p.fail("[boosting] query requires 'negative' query to be set'")
	case q.NegativeBoost < 0:
		err = p.fail("[boosting] query requires 'negative_boost' to be set to be a positive value'")
	}
	return q, err
}

func (p *parser) nested() (search.Query, error) {
	q := &search.Nested{Common: plain(), ScoreMode: "avg"}
	path := false
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Object && name == "query":
			q.Query, err = p.query()
			return err
		case p.kind == token.Object && name == "inner_hits":
			q.Inner, err = p.innerHits()
			return err
		case p.kind == token.Object:
			return p.doesNotSupport("nested", name)
		case !p.isValue():
			return nil
		}
		if known, err := p.commonOption("nested", name, &q.Common); known || err != nil {
			return err
		}
		switch name {
		case "path":
			q.Path, path = p.text(), true
		case "ignore_unmapped":
			q.IgnoreUnmapped, err = p.boolean()
		case "score_mode":
			q.ScoreMode = p.text()
			if !slices.Contains([]string{"avg", "sum", "min", "max", "none"}, q.ScoreMode) {
				err = exception.New(exception.IllegalArgument, "No score mode for child query [%s] found", q.ScoreMode)
			}
		default:
			err = p.doesNotSupport("nested", name)
		}
		return err
	})
	switch {
	case err != nil:
	case !path:
		err = exception.New(exception.IllegalArgument, "[nested] requires 'path' field")
	case q.Query == nil:
		err = exception.New(exception.IllegalArgument, "[nested] requires 'query' field")
	case q.Inner != nil && q.Inner.Name == "":
		q.Inner.Name = q.Path
	}
	return q, err
}

// innerHits reads inner_hits, whose bracket was the last token. Its Request is a *Fetch.
func (p *parser) innerHits() (*search.Inner, error) {
	f := &Fetch{}
	inner := &search.Inner{Size: 3, Request: f}
	options := p.fetchOptions(f)
	for _, name := range []string{"version", "seq_no_primary_term", "explain", "track_scores"} {
		options[name] = option{takesBoolean, options[name].read}
	}
	options["_source"] = option{takesBoolean | takesObjects, options["_source"].read}
	options["stored_fields"] = option{takesString | takesArray, options["stored_fields"].read}
	for _, name := range []string{"docvalue_fields", "fields"} {
		options[name] = option{takesObjects, options[name].read}
	}
	options["sort"] = option{takesObjects, func() (err error) { f.Sort, err = p.order(); return err }}
	options["collapse"] = option{takesObject, func() error { return p.unsupported("[collapse] in inner_hits") }}
	options["name"] = p.setString(&inner.Name)
	options["from"] = option{takesNumber, func() (err error) {
		if inner.From, err = p.integer(); err == nil && inner.From < 0 {
			err = exception.New(exception.IllegalArgument, "illegal from value, at least 0 or higher")
		}
		return err
	}}
	options["size"] = option{takesNumber, func() (err error) {
		if inner.Size, err = p.integer(); err == nil && inner.Size < 0 {
			err = exception.New(exception.IllegalArgument, "illegal size value, at least 0 or higher")
		}
		return err
	}}
	ignored := false
	options["ignore_unmapped"] = p.setBoolean(&ignored)
	return inner, p.object("inner_hits", options)
}

// wrapper reads a query that is written as base64 of its JSON.
func (p *parser) wrapper() (search.Query, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind != token.Key {
		return nil, p.fail("[wrapper] query malformed")
	}
	if name := p.text(); name != "query" {
		return nil, p.fail("[wrapper] query malformed, expected `query` but was %s", name)
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	text := p.text()
	switch {
	case p.kind != token.String:
		return nil, p.read.Mistyped("Current token (%s) not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary", p.jackson())
	case text == "":
		return nil, exception.New(exception.IllegalArgument, "query source text cannot be null or empty")
	case p.wrapped:
		return nil, p.unsupported("[wrapper] query inside of another")
	}
	body, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, p.read.Mistyped("Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS)")
	}
	inner := newParser(body)
	inner.wrapped = true
	if err := inner.next(); err != nil {
		return nil, err
	}
	q, err := inner.query()
	if err != nil {
		return nil, err
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind != token.ObjectEnd {
		return nil, p.fail("[wrapper] malformed query, expected [END_OBJECT] but found [%s]", p.kind)
	}
	return q, nil
}
