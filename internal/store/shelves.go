package store

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// Shelves are the shards of an index as they are now, for people.
type Shelves struct {
	Index    string
	Version  int64
	Shelves  []Shelf         // by range
	Transfer json.RawMessage // see placement.Placement
}

// Shelf is one shard of Shelves. The counts are zeros when the index is closed.
type Shelf struct {
	placement.Shard
	Docs, Bytes int64
}

// PlacementView tells how the shards of an index are placed, and what they have.
func (s *Store) PlacementView(ctx context.Context, name string) (Shelves, error) {
	for round := 1; ; round++ {
		idx := s.view.Load().indices[name]
		if idx == nil {
			return Shelves{}, exception.NoSuchIndex(name)
		}
		shelves, settled := idx.shelves()
		if settled {
			return shelves, nil
		}
		if err := s.reloadAfter(ctx, name, round); err != nil {
			return Shelves{}, err
		}
	}
}

// shelves are what the index has; false while its shards are not what it says.
func (idx *index) shelves() (Shelves, bool) {
	p := idx.placement
	told := Shelves{Index: idx.record.Name, Version: p.Version, Transfer: p.Transfer}
	for _, row := range p.Shards {
		shelf := Shelf{Shard: row}
		if sh := idx.shards[row.Number]; sh != nil {
			counts := sh.Stats()
			shelf.Docs, shelf.Bytes = counts.Docs, counts.Bytes
			if sh.Placed().Epoch != row.Epoch {
				return told, false
			}
		}
		told.Shelves = append(told.Shelves, shelf)
	}
	return told, true
}
