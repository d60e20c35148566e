package query

import (
	"github.com/reshelve/reshelve/aggregate"
)

// aggregations reads the value of aggs, whose bracket was the last token.
func (p *parser) aggregations() ([]aggregate.Aggregation, error) {
	return nil, p.unsupported("[aggs]")
}
