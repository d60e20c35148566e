package store

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/fields"
	"github.com/reshelve/reshelve/mapping"
)

// PutMapping merges a mapping into those of indices, or of the indices that the names are
// written to. It is tried on all before it is stored in any.
func (s *Store) PutMapping(ctx context.Context, e catalog.Expression, body []byte, writeIndexOnly bool) error {
	if err := catalog.CheckBody(body); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v := s.view.Load()
	resolve := v.catalog.Resolve
	if writeIndexOnly {
		resolve = v.catalog.WriteIndices
	}
	names, err := resolve(e, s.now().UnixMilli())
	if err == nil {
		err = v.known(names)
	}
	if err == nil {
		err = v.unblocked(names, catalog.ChangeMetadata)
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := v.indices[name].merged(body); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // all of them or none
	for _, name := range names {
		if err := s.storeMapping(ctx, name, body); err != nil {
			return err
		}
	}
	return nil
}

// mergeMapping merges what dynamic mapping adds into the stored mapping of the
// index of a number. Additions that are in it already change nothing.
func (s *Store) mergeMapping(ctx context.Context, name string, number uint32, additions []byte) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v := s.view.Load()
	if idx := v.indices[name]; idx == nil || idx.entry.Number != number {
		return exception.NoSuchIndex(name)
	}
	if err := v.unblocked([]string{name}, catalog.ChangeMetadata); err != nil {
		return err
	}
	return s.storeMapping(ctx, name, additions)
}

// storeMapping merges update into the stored mapping of an index. The caller holds s.admin.
func (s *Store) storeMapping(ctx context.Context, name string, update []byte) error {
	return s.changeIndex(ctx, name, func(idx *index) (catalog.Index, error) {
		record := idx.record
		merged, err := idx.merged(update)
		if err != nil {
			return record, err
		}
		if rendered := json.RawMessage(merged.JSON()); string(rendered) != string(record.Mapping) {
			record.Mapping, record.MappingVersion = rendered, record.MappingVersion+1
		}
		return record, nil
	})
}

// merged is the mapping of an index after an update.
func (idx *index) merged(update []byte) (*mapping.Mapping, error) {
	m, err := idx.mapping.Merge(update, idx.rules.limits)
	if err == nil && idx.unsearchable == nil {
		err = fields.New(m, idx.schema.Analysis()).Check()
	}
	if err != nil {
		return nil, err
	}
	if idx.rules.partitions > 1 && !m.RoutingRequired() {
		return nil, partitioned(idx.record.Name)
	}
	return m, nil
}

func partitioned(name string) error {
	return exception.New(exception.IllegalArgument, "mapping type [_doc] must have routing required for partitioned index [%s]", name)
}

// renderMappings merges mappings of templates, for package catalog.
func renderMappings(settings map[string]string, list []json.RawMessage) ([]byte, error) {
	rules, err := readRules(settings)
	if err != nil {
		return nil, err
	}
	m := mapping.Empty()
	for _, part := range list {
		if m, err = m.MergeTemplate(part, rules.limits); err != nil {
			return nil, err
		}
	}
	return m.JSON(), nil
}
