package query

import (
	"github.com/reshelve/reshelve/search"
)

// order reads the value of sort.
func (p *parser) order() ([]search.Sort, error) { return nil, p.unsupported("[sort]") }
