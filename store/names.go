package store

import (
	"github.com/reshelve/reshelve/catalog"
)

// writeTarget is the index that a write to name goes to, and the properties of
// the alias when name is one. exists tells whether the name is known at all.
func (s *Store) writeTarget(v *view, name string) (idx *index, alias catalog.Alias, exists bool, err error) {
	idx, exists = v.indices[name]
	return idx, catalog.Alias{}, exists, nil
}
