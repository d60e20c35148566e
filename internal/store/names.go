package store

import (
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// now is the store's time, for date math and ages.
func (s *Store) now() time.Time { return s.options.Clock().UTC() }

// writeTarget is the index that a write to name goes to, and the properties of
// the alias when name is one. exists tells whether the name is known at all.
func (s *Store) writeTarget(v *view, name string) (idx *index, alias catalog.Alias, exists bool, err error) {
	if idx := v.indices[name]; idx != nil {
		return idx, catalog.Alias{}, true, nil
	}
	target, alias, exists, err := v.catalog.WriteTarget(name)
	if err != nil || !exists {
		return nil, alias, exists, err
	}
	idx = v.indices[target]
	if idx == nil {
		return nil, alias, false, nil
	}
	return idx, alias, true, nil
}

// unblocked refuses an access that the settings of one of the indices block.
func (v *view) unblocked(names []string, access catalog.Access) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		idx := v.indices[name]
		if idx == nil {
			continue
		}
		if blocked := catalog.Blocked(name, idx.record.Settings, access); blocked != nil {
			return blocked
		}
	}
	return nil
}
