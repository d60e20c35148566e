package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// UpdateAliases makes the changes of a body {"actions":[…]}: all of them at one instant, or
// none.
func (s *Store) UpdateAliases(ctx context.Context, body []byte) error {
	actions, err := catalog.ParseAliasActions(body)
	if err != nil {
		return err
	}
	return s.changeAliases(ctx, actions)
}

// PutAlias adds an alias to indices; body holds its properties, and may be empty.
func (s *Store) PutAlias(ctx context.Context, e catalog.Expression, alias string, body []byte) error {
	actions, err := catalog.PutAliasActions(e.Names, alias, body)
	if err != nil {
		return err
	}
	return s.changeAliases(ctx, actions)
}

// DeleteAliases takes aliases, patterns among them, from indices.
func (s *Store) DeleteAliases(ctx context.Context, e catalog.Expression, aliases []string) error {
	return s.changeAliases(ctx, catalog.DeleteAliasActions(e.Names, aliases))
}

func (s *Store) changeAliases(ctx context.Context, actions catalog.AliasActions) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v := s.view.Load()
	now := s.now().UnixMilli()
	names, err := actions.Indices(v.catalog, now)
	if err == nil {
		err = v.unblocked(names, catalog.ChangeMetadata)
	}
	if err != nil {
		return err
	}
	return s.change(ctx, nil, func(c catalog.Catalog) (catalog.Catalog, error) {
		next, _, err := c.ChangeAliases(actions, now)
		return next, err
	})
}
