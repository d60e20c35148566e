package query

import (
	"encoding/json"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Filters reads queries of which a document must meet one; nil when there are none.
func Filters(queries []json.RawMessage) (search.Query, error) {
	var all []search.Query
	for _, body := range queries {
		q, err := readQuery(body)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0], nil
	}
	return &search.Bool{Common: search.Common{Boost: 1}, Should: all, AdjustPureNegative: true}, nil
}

// readQuery reads a query that is a body by itself.
func readQuery(body []byte) (q search.Query, err error) {
	p := newParser(body)
	err = p.root(func() error {
		if p.kind != token.Object {
			return p.fail("Expected [START_OBJECT] but found [%s]", p.kind)
		}
		q, err = p.query()
		return err
	})
	return q, err
}
