package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// rename makes an edit of the catalog that concerns no index.
func (s *Store) rename(ctx context.Context, edit func(catalog.Catalog) (catalog.Catalog, error)) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.change(ctx, nil, edit)
}

// PutLegacyTemplate stores a legacy template; with create it must be new.
func (s *Store) PutLegacyTemplate(ctx context.Context, name string, body []byte, create bool) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) {
		return c.WithLegacy(name, body, create, renderMappings)
	})
}

// DeleteLegacyTemplates removes the legacy templates that a name or pattern means.
func (s *Store) DeleteLegacyTemplates(ctx context.Context, pattern string) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithoutLegacy(pattern) })
}

// PutIndexTemplate stores an index template; with create it must be new.
func (s *Store) PutIndexTemplate(ctx context.Context, name string, body []byte, create bool) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) {
		return c.WithComposable(name, body, create, renderMappings)
	})
}

// DeleteIndexTemplates removes the index templates that a name or pattern means.
func (s *Store) DeleteIndexTemplates(ctx context.Context, name string) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithoutComposable(name) })
}

// PutComponentTemplate stores a component template; with create it must be new.
func (s *Store) PutComponentTemplate(ctx context.Context, name string, body []byte, create bool) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) {
		return c.WithComponent(name, body, create, renderMappings)
	})
}

// DeleteComponentTemplates removes the component templates that a name or pattern means.
func (s *Store) DeleteComponentTemplates(ctx context.Context, name string) error {
	return s.rename(ctx, func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithoutComponents(name) })
}

// SimulateIndex tells what an index of the name would get from templates; body may hold one
// more template. The answer is the server's JSON.
func (s *Store) SimulateIndex(_ context.Context, indexName string, body []byte) ([]byte, error) {
	simulation, found, err := s.Catalog().SimulateIndex(indexName, body, newUUID(), renderMappings)
	if err != nil {
		return nil, err
	}
	if !found {
		return []byte("{}"), nil
	}
	return simulation.JSON(renderMappings)
}

// SimulateTemplate tells what a template gives to indices: the one in body, as if it were put
// under the name, or the one of the name. With create, one of body must be new. The answer is the
// server's JSON.
func (s *Store) SimulateTemplate(_ context.Context, name string, body []byte, create bool) ([]byte, error) {
	simulation, err := s.Catalog().SimulateTemplate(name, body, create, newUUID(), renderMappings)
	if err != nil {
		return nil, err
	}
	return simulation.JSON(renderMappings)
}

// PutClusterSettings changes settings of the cluster. The answer is the server's JSON.
func (s *Store) PutClusterSettings(ctx context.Context, body []byte) (answer []byte, err error) {
	err = s.rename(ctx, func(c catalog.Catalog) (next catalog.Catalog, err error) {
		next, answer, err = c.WithCluster(body)
		return next, err
	})
	return answer, err
}
