package store

import (
	"context"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// CloseIndices closes indices: they keep their documents and take no requests. It
// returns those that were open. One whose shards are about to change is not closed.
func (s *Store) CloseIndices(ctx context.Context, e catalog.Expression) ([]string, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	names, changed, err := s.turning(e, true)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	for _, name := range changed {
		if idx := s.view.Load().indices[name]; idx != nil && idx.placement.Transfer != nil {
			return nil, idx.reshaping()
		}
	}
	return changed, s.change(ctx, nil, closed(names, true))
}

// OpenIndices opens closed indices. It returns those that were closed.
func (s *Store) OpenIndices(ctx context.Context, e catalog.Expression) ([]string, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	names, opening, err := s.turning(e, false)
	if err != nil || len(opening) == 0 {
		return nil, err
	}
	if err := s.view.Load().known(opening); err != nil {
		return nil, err
	}
	indices := s.view.Load().indices
	ready := map[string]*index{}
	for _, name := range opening {
		next := *indices[name]
		next.entry.Closed = false
		if err = s.openShards(ctx, &next); err != nil {
			break
		}
		ready[name] = &next
	}
	if err == nil {
		err = s.change(ctx, ready, closed(names, false))
	}
	if err != nil {
		s.retire(ctx, slices.Collect(maps.Values(ready)), func(*index) bool { return false })
		return nil, err
	}
	return opening, nil
}

// turning are the indices that an expression names, and those of them whose state would
// become another. The caller holds s.admin.
func (s *Store) turning(e catalog.Expression, closed bool) (names, turned []string, err error) {
	v := s.view.Load()
	if err := v.catalog.CheckDestructive(e.Names); err != nil {
		return nil, nil, err
	}
	e.Options.NoStreams = true
	if names, err = v.catalog.Resolve(e, s.now().UnixMilli()); err != nil {
		return nil, nil, err
	}
	if err := v.unblocked(names, catalog.ChangeMetadata); err != nil {
		return nil, nil, err
	}
	_, turned, err = v.catalog.WithClosed(names, closed)
	return names, turned, err
}

// closed is the edit of the catalog that closes indices, or opens them.
func closed(names []string, closed bool) func(catalog.Catalog) (catalog.Catalog, error) {
	return func(c catalog.Catalog) (catalog.Catalog, error) {
		next, _, err := c.WithClosed(names, closed)
		return next, err
	}
}
