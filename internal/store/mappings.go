package store

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
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
	grown := make([]*index, len(names))
	for i, name := range names {
		if grown[i], err = v.indices[name].grown(body); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // all of them or none
	for i, name := range names {
		if err := s.changeIndex(ctx, name, func(*index) (*index, error) { return grown[i], nil }); err != nil {
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
	return s.changeIndex(ctx, name, func(idx *index) (*index, error) { return idx.grown(additions) })
}

// grown is the index after an update of its mapping, as reading its record will give it; nil when that
// changes nothing.
func (idx *index) grown(update []byte) (*index, error) {
	to, err := idx.mapping.Grow(update, idx.rules.limits)
	if err != nil {
		return nil, err
	}
	grown := *idx
	grown.mapping, grown.kept = to.Mapping, query.Kept(to.Source())
	if grown.schema, err = idx.schema.Grow(to, idx.unsearchable == nil); err != nil {
		return nil, err
	}
	if idx.rules.partitions > 1 && !to.RoutingRequired() {
		return nil, partitioned(idx.record.Name)
	}
	rendered := json.RawMessage(to.JSONAfter(idx.record.Mapping))
	if string(rendered) == string(idx.record.Mapping) {
		return nil, nil
	}
	grown.record.Mapping, grown.record.MappingVersion = rendered, idx.record.MappingVersion+1
	if idx.unsearchable != nil { // it may say something else now
		return newIndex(idx.entry, grown.record, idx.placement)
	}
	return &grown, nil
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
