package query

import (
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Queries of terms as they are: term, terms, prefix, wildcard, regexp, fuzzy.

// value sets a value by the last token; null sets nothing.
func (p *parser) value(into *fields.Value, given *bool) {
	if p.kind != token.Null {
		*into, *given = p.scalar(), true
	}
}

func (p *parser) term() (search.Query, error) {
	q := &search.Term{Common: plain()}
	given, found := false, false
	err := p.tokens(func(name string) error {
		switch {
		case p.kind == token.Null && !found:
			return nil
		case p.kind == token.Array:
			return p.fail("[term] query does not support array of values")
		case found:
			return p.manyFields("term", q.Field, name)
		}
		q.Field, found = name, true
		if p.kind != token.Object {
			p.value(&q.Value, &given)
			return nil
		}
		return p.tokens(func(name string) (err error) {
			if known, err := p.commonOption("term", name, &q.Common); known || err != nil {
				return err
			}
			switch name {
			case "value":
				if p.kind == token.Object {
					return p.insideOf("term")
				}
				p.value(&q.Value, &given)
			case "case_insensitive":
				q.FoldCase, err = p.boolean()
			default:
				err = p.doesNotSupport("term", name)
			}
			return err
		})
	})
	return q, complete(err, q.Field, given)
}

// insideOf is what the server says of an object in place of a value: that the query has
// no option like its first member.
func (p *parser) insideOf(clause string) error {
	name := ""
	err := p.tokens(func(member string) error {
		name = member
		return p.doesNotSupport(clause, name)
	})
	return err
}

// complete is the error of a query on one field: the one met, or about what is missing.
func complete(err error, field string, given bool) error {
	switch {
	case err != nil:
		return err
	case field == "":
		return noField(field)
	case !given:
		return noValue()
	}
	return nil
}

func (p *parser) terms() (search.Query, error) {
	q := &search.Terms{Common: plain()}
	found := false
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Array:
			if found {
				return p.fail("[terms] query does not support multiple fields")
			}
			q.Field, found = name, true
			q.Values, err = p.termValues(name)
			return err
		case p.kind == token.Object:
			if found {
				return p.fail("[terms] query does not support more than one field. Already got: [%s] but also found [%s]", q.Field, name)
			}
			return p.unsupported("[terms] lookup of a document")
		case !p.isValue():
			return p.unknownToken("terms", name)
		}
		if known, err := p.commonOption("terms", name, &q.Common); known || err != nil {
			return err
		}
		if name != "value_type" {
			return p.doesNotSupport("terms", name)
		}
		switch text := p.text(); text {
		case "default":
			return nil
		case "bitmap":
			return p.unsupported("[terms] with values of type [bitmap]")
		default:
			return exception.New(exception.IllegalArgument, "%s is not valid value_type", text)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, p.fail("[terms] query requires a field name, followed by array of terms or a document lookup specification")
	}
	return q, nil
}

// termValues reads the values of an array, whose bracket was the last token.
func (p *parser) termValues(field string) (values []fields.Value, err error) {
	err = p.elements(func() error {
		switch p.kind {
		case token.Null:
			return p.fail("No value specified for terms query")
		case token.Array: // the server takes its end for the end of the values
			if _, err := p.skip(); err != nil {
				return err
			}
			if err := p.next(); err != nil {
				return err
			}
			if p.isValue() {
				return p.doesNotSupport("terms", field)
			}
			return p.unknownToken("terms", field)
		case token.Object:
			return p.fail("[terms] query does not support values of type: %s", p.kind)
		}
		values = append(values, p.scalar())
		return nil
	})
	return values, err
}

func (p *parser) prefix() (search.Query, error) {
	q := &search.Prefix{Common: plain()}
	given := false
	field, err := p.byForm("prefix", "value", &q.Common, &q.Value, &given, &q.FoldCase, &q.Rewrite, nil)
	q.Field = field
	return q, complete(err, field, given)
}

func (p *parser) wildcard() (search.Query, error) {
	q := &search.Wildcard{Common: plain()}
	given := false
	field, err := p.byForm("wildcard", "wildcard", &q.Common, &q.Value, &given, &q.FoldCase, &q.Rewrite, nil)
	q.Field = field
	return q, complete(err, field, given)
}

func (p *parser) regexp() (search.Query, error) {
	q := &search.Regexp{Common: plain()}
	given := false
	field, err := p.byForm("regexp", "value", &q.Common, &q.Value, &given, &q.FoldCase, &q.Rewrite, func(name string) (known bool, err error) {
		switch name {
		case "flags":
			if q.Flags, err = p.strOrNull(); err == nil {
				err = checkFlags(q.Flags, "regexp", regexpFlags)
			}
		case "max_determinized_states":
			q.MaxStates, err = p.integer()
		case "flags_value":
			_, err = p.integer() // told by servers to each other, beside flags
		default:
			return false, nil
		}
		return true, err
	})
	q.Field = field
	return q, complete(err, field, given)
}

// byForm reads a query of terms by their form: its value may also be called as alias.
func (p *parser) byForm(clause, alias string, c *search.Common, value *string, given, fold *bool, rewrite *string, more func(string) (bool, error)) (string, error) {
	text := func() (err error) {
		if p.kind == token.Null && clause != "wildcard" {
			return nil
		}
		*value, err = p.str()
		*given = true
		return err
	}
	return p.onField(clause, text, func(name string) (err error) {
		if more != nil {
			if known, err := more(name); known || err != nil {
				return err
			}
		}
		if known, err := p.commonOption(clause, name, c); known || err != nil {
			return err
		}
		switch name {
		case "value", alias:
			return text()
		case "rewrite":
			*rewrite, err = p.strOrNull()
		case "case_insensitive":
			*fold, err = p.boolean()
		default:
			err = p.doesNotSupport(clause, name)
		}
		return err
	})
}

func (p *parser) fuzzy() (search.Query, error) {
	q := &search.Fuzzy{Common: plain(), Fuzziness: search.Fuzziness{Transposing: true, Expansions: 50}}
	given := false
	field, err := p.onField("fuzzy", func() error {
		p.value(&q.Value, &given)
		return nil
	}, func(name string) (err error) {
		if !p.isValue() {
			return p.fail("[fuzzy] unexpected token [%s] after [%s]", p.kind, name)
		}
		if known, err := p.commonOption("fuzzy", name, &q.Common); known || err != nil {
			return err
		}
		switch name {
		case "value", "term":
			p.value(&q.Value, &given)
		case "fuzziness":
			err = p.fuzziness(&q.Fuzziness)
		case "prefix_length":
			q.Fuzziness.Prefix, err = p.integer()
		case "max_expansions":
			q.Fuzziness.Expansions, err = p.integer()
		case "transpositions":
			q.Fuzziness.Transposing, err = p.boolean()
		case "rewrite":
			q.Rewrite, err = p.str()
		default:
			err = p.doesNotSupport("fuzzy", name)
		}
		return err
	})
	q.Field = field
	if !q.Fuzziness.Set { // auto by default
		q.Fuzziness.Set, q.Fuzziness.Auto, q.Fuzziness.Low, q.Fuzziness.High = true, true, 3, 6
	}
	switch {
	case err != nil:
	case field == "":
		err = exception.New(exception.IllegalArgument, "field name cannot be null or empty")
	case !given:
		err = exception.New(exception.IllegalArgument, "query value cannot be null")
	}
	return q, err
}
