package query

import (
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// ReadCount reads a body that holds a query and nothing else: of _count and of
// _validate/query. Nil: there is none.
func ReadCount(body []byte) (search.Query, error) { return readOnly(body, "query") }

// ReadFieldCaps reads the body of _field_caps: the filter of its indices. Nil: there is
// none.
func ReadFieldCaps(body []byte) (search.Query, error) { return readOnly(body, "index_filter") }

// readOnly reads {"name": query}. What comes behind the object is not looked at.
func readOnly(body []byte, name string) (search.Query, error) {
	if len(body) == 0 {
		return nil, nil
	}
	p := newParser(body)
	q, err := p.only(name)
	if err == nil || exception.Is(err, exception.Parsing) {
		return q, err
	}
	return nil, p.fail("Failed to parse").CausedBy(exception.From(err))
}

func (p *parser) only(name string) (q search.Query, err error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind != token.Object {
		return nil, p.fail("Expected [START_OBJECT] but found [%s]", p.kind)
	}
	for {
		if err := p.next(); err != nil || p.kind == token.ObjectEnd {
			return q, err
		}
		if member := p.text(); member != name {
			return nil, p.fail("request does not support [%s]", member)
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.kind != token.Object {
			return nil, p.fail("[_na] query malformed, must start with start_object")
		}
		if q, err = p.query(); err != nil {
			return nil, err
		}
	}
}
