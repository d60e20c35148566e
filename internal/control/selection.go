package control

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/snapshot"
)

// Selection names indices of one snapshot.
type Selection struct {
	Repository   string   // a location; see package blob
	Snapshot     string   // name or UUID; "": the newest successful one
	Indices      []string // patterns; none: all indices
	AllowPartial bool     // take what there is of a snapshot that is not complete
}

// selection is a Selection that was found in its repository.
type selection struct {
	snapshot *snapshot.Snapshot
	names    []string // of indices, ordered by their bytes
}

// choose finds the snapshot and the indices; it refuses a snapshot that is not
// complete unless that is allowed.
func (c *Control) choose(ctx context.Context, s Selection) (chosen selection, err error) {
	if chosen.snapshot, err = c.find(ctx, s.Repository, s.Snapshot); err != nil {
		return chosen, err
	}
	if !s.AllowPartial {
		if err := chosen.snapshot.Complete(); err != nil {
			return chosen, err
		}
	}
	chosen.names, err = selectIndices(chosen.snapshot.Indices, s.Indices)
	return chosen, err
}

// has tells whether the index is one of the selection.
func (s selection) has(index string) bool {
	_, found := slices.BinarySearch(s.names, index)
	return found
}

// fraction is how much of the selection is done, told by shards; negative when
// their number is unknown because only some indices are wanted.
func (s selection) fraction(shards int) float64 {
	if len(s.names) != len(s.snapshot.Indices) || s.snapshot.ShardsTotal == 0 {
		return -1
	}
	return float64(shards) / float64(s.snapshot.ShardsTotal)
}
