package store

import (
	"context"

	"github.com/reshelve/reshelve/catalog"
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

// CloseIndices closes indices: they keep their documents and take no requests. It
// returns those that were open.
func (s *Store) CloseIndices(ctx context.Context, e catalog.Expression) ([]string, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	v := s.view.Load()
	if err := v.catalog.CheckDestructive(e.Names); err != nil {
		return nil, err
	}
	names, err := s.addressed(v, e)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	_, changed, err := v.catalog.WithClosed(names, true)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return changed, s.change(ctx, nil, func(c catalog.Catalog) (catalog.Catalog, error) {
		next, _, err := c.WithClosed(names, true)
		return next, err
	})
}

// OpenIndices opens closed indices. It returns those that were closed.
func (s *Store) OpenIndices(ctx context.Context, e catalog.Expression) ([]string, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	v := s.view.Load()
	if err := v.catalog.CheckDestructive(e.Names); err != nil {
		return nil, err
	}
	names, err := s.addressed(v, e)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	_, opening, err := v.catalog.WithClosed(names, false)
	if err != nil || len(opening) == 0 {
		return nil, err
	}
	ready := map[string]*index{}
	for _, name := range opening {
		next := *v.indices[name]
		next.entry.Closed = false
		if err = s.openShards(ctx, &next); err != nil {
			break
		}
		ready[name] = &next
	}
	if err == nil {
		err = s.change(ctx, ready, func(c catalog.Catalog) (catalog.Catalog, error) {
			next, _, err := c.WithClosed(names, false)
			return next, err
		})
	}
	if err != nil {
		for _, idx := range ready {
			s.retire(ctx, idx, false)
		}
		return nil, err
	}
	return opening, nil
}

// addressed are the indices that an expression names for a change of their state.
func (s *Store) addressed(v *view, e catalog.Expression) ([]string, error) {
	e.Options.NoStreams = true
	names, err := v.catalog.Resolve(e, s.now().UnixMilli())
	if err != nil {
		return nil, err
	}
	return names, v.unblocked(names, catalog.ChangeMetadata)
}
