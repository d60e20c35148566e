package query

import (
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// ByQuery is a delete or an update of what a search finds. The Size of the search is how
// many documents are taken at a time: 1000 when nothing is said.
type ByQuery struct {
	Search  Search
	MaxDocs int  // -1: all
	Proceed bool // leave documents behind that have changed meanwhile, and go on
}

// batch is the size of the searches of what works on what it finds.
const batch = 1000

func newByQuery() ByQuery {
	s := New()
	s.Size = batch
	return ByQuery{Search: s, MaxDocs: -1}
}

// ReadDeleteByQuery reads the body of _delete_by_query; there need be none. What is
// found without a query is for the caller to refuse: see [ByQuery.CheckDelete].
func ReadDeleteByQuery(body []byte) (ByQuery, error) { return readByQuery(body, false) }

// ReadUpdateByQuery reads the body of _update_by_query; there need be none.
func ReadUpdateByQuery(body []byte) (ByQuery, error) { return readByQuery(body, true) }

func readByQuery(body []byte, scripts bool) (ByQuery, error) {
	q := newByQuery()
	if len(body) == 0 {
		return q, nil
	}
	p := newParser(body)
	own := map[string]option{
		"conflicts": p.setConflicts(&q.Proceed),
		"max_docs":  p.setMaxDocs(&q.MaxDocs),
	}
	if scripts {
		own["script"] = option{takesAny, func() error { return p.unsupported("[script]") }}
	}
	rest, err := p.take(own)
	if err != nil {
		return q, err
	}
	inner := newParser(rest)
	return q, inner.root(func() error { return inner.search(&q.Search) })
}

func (p *parser) setConflicts(proceed *bool) option {
	return option{takesString, func() error {
		text := p.text()
		if text != "proceed" && text != "abort" {
			return exception.New(exception.IllegalArgument, "conflicts may only be \"proceed\" or \"abort\" but was [%s]", text)
		}
		*proceed = text == "proceed"
		return nil
	}}
}

func (p *parser) setMaxDocs(into *int) option {
	return option{takesNumber, func() error {
		n, err := p.integer()
		if err != nil {
			return err
		}
		return setMaxDocs(into, n)
	}}
}

// setMaxDocs sets how many documents at most, once.
func setMaxDocs(into *int, n int) error {
	switch {
	case n < 0:
		return exception.New(exception.IllegalArgument, "[max_docs] parameter cannot be negative, found [%d]", n)
	case n == 0:
		return exception.New(exception.IllegalArgument, "[max_docs] should be >= [slices]")
	case *into >= 0 && *into != n:
		return exception.New(exception.IllegalArgument, "[max_docs] set to two different values [%d] and [%d]", *into, n)
	}
	*into = n
	return nil
}

// take reads some members of the object that a body is, and gives the object without
// them. (The server reads such bodies twice, and tells places in what is left.)
func (p *parser) take(own map[string]option) (rest []byte, err error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind != token.Object {
		return nil, p.fail("Expected [START_OBJECT] but found [%s]", p.kind)
	}
	rest, err = p.leave(own)
	if err != nil {
		return nil, err
	}
	if err = p.next(); err == nil && p.kind != token.End {
		err = p.fail("Unexpected token [%s] found after the main object.", p.kind)
	}
	return rest, err
}

// leave is take for the object whose bracket was the last token.
func (p *parser) leave(own map[string]option) (rest []byte, err error) {
	rest = append(rest, '{')
	err = p.members(func(name string) error {
		if o, mine := own[name]; mine {
			if o.takes&(1<<p.kind) == 0 {
				return exception.New(exception.IllegalArgument, "[%s] doesn't support values of type: %s", name, p.kind)
			}
			return o.read()
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(token.AppendString(rest, name), ':')
		text := p.kind == token.String
		raw, err := p.skip()
		if text {
			rest = token.AppendString(rest, raw)
		} else {
			rest = append(rest, raw...)
		}
		return err
	})
	return append(rest, '}'), err
}

// Read reads the parameters of the URL that say what is found and how many of it: q,
// max_docs (or size), conflicts, scroll_size, and those of a search.
func (q *ByQuery) ReadURL(param Param) error {
	if text, set := param("conflicts"); set {
		if text != "proceed" && text != "abort" {
			return exception.New(exception.IllegalArgument, "conflicts may only be \"proceed\" or \"abort\" but was [%s]", text)
		}
		q.Proceed = text == "proceed"
	}
	for _, name := range []string{"max_docs", "size"} {
		n, err := numberOf(param, name)
		if err == nil && n != nil {
			err = setMaxDocs(&q.MaxDocs, *n)
		}
		if err != nil {
			return err
		}
	}
	size, err := numberOf(param, "scroll_size")
	if err != nil {
		return err
	}
	if size != nil {
		q.Search.Size = *size
	}
	return q.Search.ReadURL(func(name string) (string, bool) {
		if name == "size" { // says how many, not how many at a time
			return "", false
		}
		return param(name)
	})
}

// Check refuses what such a search cannot have.
func (q *ByQuery) Check() error {
	err := q.Search.CheckScroll()
	if e := exception.From(err); err != nil && e.Type == exception.ActionRequestValidation && q.Search.From > 0 {
		return exception.New(e.Type, "%s2: from is not supported in this context;", e.Reason)
	}
	return err
}

// CheckDelete is Check, and refuses a delete that does not say of what.
func (q *ByQuery) CheckDelete() error {
	if q.Search.Query == nil {
		return invalid([]string{"query is missing"})
	}
	return q.Check()
}
