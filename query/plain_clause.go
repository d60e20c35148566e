package query

import (
	"strings"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/token"
)

// known are the queries of the server.
var known = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`bool boosting combined_fields common constant_score dis_max distance_feature exists
		function_score fuzzy geo_bounding_box geo_distance geo_polygon geo_shape has_child has_parent hybrid ids intervals knn match
		match_all match_bool_prefix match_none match_phrase match_phrase_prefix more_like_this multi_match nested neural parent_id
		percolate pinned prefix query_string range rank_feature regexp script script_score simple_query_string span_containing
		span_first span_multi span_near span_not span_or span_term span_within template term terms terms_set wildcard wrapper`) {
		names[name] = true
	}
	return names
}()

// query reads the object of a query, whose bracket has been read.
func (p *plainParser) query() error {
	kind, err := p.read.Next()
	if err != nil {
		return err
	}
	if kind == token.ObjectEnd {
		line, column := p.read.Place()
		return exception.New(exception.IllegalArgument, "query malformed, empty clause found at [%d:%d]", line, column)
	}
	name := string(p.read.Text())
	if kind, err = p.read.Next(); err != nil {
		return err
	}
	if kind != token.Object {
		return p.fail("[%s] query malformed, no start_object after query name", name)
	}
	switch {
	case name == "match_all":
		err = p.matchAll()
	case name == "ids":
		err = p.ids()
	case known[name]:
		return p.unsupported("[" + name + "] query")
	default:
		line, column := p.read.Place()
		cause := exception.New(exception.NamedObjectNotFound, "[%d:%d] unknown field [%s]", line, column, name)
		return p.fail("unknown query [%s]", name).CausedBy(cause)
	}
	if err != nil {
		return err
	}
	if kind, err = p.read.Next(); err == nil && kind != token.ObjectEnd {
		err = p.fail("[%s] malformed query, expected [END_OBJECT] but found [%s]", name, kind)
	}
	return err
}

func (p *plainParser) matchAll() error {
	return p.members(func(name string) error { return p.clauseKey("match_all", name) })
}

func (p *plainParser) ids() error {
	p.search.IDs = []string{}
	return p.members(func(name string) error {
		if name != "values" {
			return p.clauseKey("ids", name)
		}
		kind, err := p.read.Next()
		switch {
		case err != nil:
			return err
		case kind == token.Array:
			return p.idValues()
		case kind == token.Object || kind == token.Null:
			return p.misplaced("ids", "values doesn't support values of type: "+kind.String())
		}
		p.search.IDs = append(p.search.IDs, string(p.read.Text()))
		return nil
	})
}

func (p *plainParser) idValues() error {
	for {
		kind, err := p.read.Next()
		switch {
		case err != nil || kind == token.ArrayEnd:
			return err
		case !kind.IsScalar() || kind == token.Null:
			return p.misplaced("ids", "failed to parse field [values]")
		}
		p.search.IDs = append(p.search.IDs, string(p.read.Text()))
	}
}

// clauseKey reads what every query may have.
func (p *plainParser) clauseKey(clause, name string) error {
	line, column := p.read.Place() // of the key
	kind, err := p.read.Next()
	if err != nil {
		return err
	}
	switch name {
	case "boost":
		if text := string(p.read.Text()); kind.IsScalar() && (text == "1" || text == "1.0") {
			return nil
		}
		return p.unsupported("[" + clause + "] with a [boost]")
	case "_name":
		return p.unsupported("[" + clause + "] with a [_name]")
	}
	cause := exception.New(exception.XContentParse, "[%d:%d] [%s] unknown field [%s]", line, column, clause, name)
	return p.fail("%s", cause.Reason).CausedBy(cause)
}

// misplaced is a value of a kind that the clause does not take there.
func (p *plainParser) misplaced(clause, what string) error {
	line, column := p.read.Place()
	cause := exception.New(exception.XContentParse, "[%d:%d] [%s] %s", line, column, clause, what)
	return p.fail("%s", cause.Reason).CausedBy(cause)
}
