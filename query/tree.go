package query

import (
	"github.com/reshelve/reshelve/search"
)

// query reads a query, whose bracket was the last token.
func (p *parser) query() (search.Query, error) { return nil, p.unsupported("[query]") }
