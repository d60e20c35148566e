package store

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/catalog"
)

// mergeMapping merges what dynamic mapping adds into the stored mapping of an
// index. Additions that are in it already change nothing.
func (s *Store) mergeMapping(ctx context.Context, name string, additions []byte) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	return s.editIndex(ctx, name, func(idx *index, record catalog.Index) (catalog.Index, error) {
		merged, err := idx.mapping.Merge(additions, idx.rules.limits)
		if err != nil {
			return record, err
		}
		rendered := json.RawMessage(merged.JSON())
		if string(rendered) != string(record.Mapping) {
			record.Mapping, record.MappingVersion = rendered, record.MappingVersion+1
		}
		return record, nil
	})
}
