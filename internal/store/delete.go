package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// DeleteIndices removes indices with their documents. Aliases and data streams are no
// names here.
func (s *Store) DeleteIndices(ctx context.Context, e catalog.Expression) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v := s.view.Load()
	if err := v.catalog.CheckDestructive(e.Names); err != nil {
		return err
	}
	e.Options.ForbidAliases, e.Options.NoStreams = true, true
	names, err := v.catalog.Resolve(e, s.now().UnixMilli())
	if err != nil || len(names) == 0 {
		return err
	}
	if err := v.unblocked(names, catalog.DeleteIndex); err != nil {
		return err
	}
	return s.change(ctx, nil, func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithoutIndices(names) })
}
