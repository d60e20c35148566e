package store

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// PlacementStatus are the shards of an index as they are now, for people.
type PlacementStatus struct {
	Index    string
	Version  int64
	Shards   []ShardStatus   // by range
	Transfer json.RawMessage // see placement.Placement
}

// ShardStatus is one shard of PlacementStatus. The counts are zeros when the index is closed.
type ShardStatus struct {
	placement.Shard
	Docs, Bytes int64
}

// PlacementView is how the shards of an index are placed, and what they have.
func (s *Store) PlacementView(ctx context.Context, name string) (PlacementStatus, error) {
	for round := 1; ; round++ {
		idx := s.view.Load().indices[name]
		if idx == nil {
			return PlacementStatus{}, exception.NoSuchIndex(name)
		}
		status, settled := idx.placementStatus()
		if settled {
			return status, nil
		}
		if err := s.reloadAfter(ctx, name, round); err != nil {
			return PlacementStatus{}, err
		}
	}
}

// placementStatus is what the index has; false while its shards are not what it says.
func (idx *index) placementStatus() (PlacementStatus, bool) {
	p := idx.placement
	told := PlacementStatus{Index: idx.record.Name, Version: p.Version, Transfer: p.Transfer}
	for _, row := range p.Shards {
		row := ShardStatus{Shard: row}
		if sh := idx.shards[row.Number]; sh != nil {
			counts := sh.Stats()
			row.Docs, row.Bytes = counts.Docs, counts.Bytes
			if sh.Placed().Epoch != row.Epoch {
				return told, false
			}
		}
		told.Shards = append(told.Shards, row)
	}
	return told, true
}
