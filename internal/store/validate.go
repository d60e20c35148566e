package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Validated tells what an index makes of a query.
type Validated struct {
	Index, UUID string
	Shards      int
	Plan        string // in one line; "" with Err
	Err         error
}

// Validate tells of each index whether it understands a query, and as what.
func (s *Store) Validate(ctx context.Context, where Where, q search.Query) (all []Validated, err error) {
	parts, err := s.visitAgain(ctx, where.Expression, where.Routing, nil)
	if err != nil {
		return nil, err
	}
	now := s.options.Clock().UnixMilli()
	for _, of := range parts {
		index := searched(of)
		told := Validated{Index: index.Name, UUID: index.UUID, Shards: len(of)}
		told.Plan, told.Err = search.Describe(&index, q, now, search.Limits{})
		all = append(all, told)
	}
	return all, closeParts(parts)
}

// Analysis is that of an index, which a name stands for; of no index it is the server's own.
func (s *Store) Analysis(ctx context.Context, name string) (*analysis.Analysis, *fields.Schema, error) {
	if name == "" {
		none, err := analysis.New(nil)
		return none, nil, err
	}
	names, err := s.Resolve(ctx, catalog.Expression{Names: []string{name}, Options: catalog.Options{NoIndicesIsError: true}})
	if err != nil {
		return nil, nil, err
	}
	if len(names) != 1 {
		return nil, nil, exception.New(exception.IllegalArgument, "index [%s] stands for %d indices", name, len(names))
	}
	idx := s.view.Load().indices[names[0]]
	if idx == nil {
		return nil, nil, exception.NoSuchIndex(name)
	}
	if idx.unsearchable != nil {
		return nil, nil, idx.unsearchable
	}
	return idx.schema.Analysis(), idx.schema, nil
}
