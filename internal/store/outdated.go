package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// keptPlacements is how many placements of an index are remembered beside the newest.
const keptPlacements = 16

type outdated struct{}

// WithPlacement lets a request route by an older version of the placement of the index that
// it asks, as one who has not heard of the newer ones. What is told that it is stale goes on
// by the newest. It is for trying that old routes do no harm.
func WithPlacement(ctx context.Context, version int64) context.Context {
	return context.WithValue(ctx, outdated{}, version)
}

// upToDate is the context of a request that was told that it is stale.
func upToDate(ctx context.Context) context.Context {
	if ctx.Value(outdated{}) == nil {
		return ctx
	}
	return WithPlacement(ctx, 0)
}

// routed is the placement by which a request routes.
func (idx *index) routed(ctx context.Context) (placement.Placement, error) {
	version, _ := ctx.Value(outdated{}).(int64)
	if version == 0 || version == idx.placement.Version {
		return idx.placement, nil
	}
	for _, p := range idx.past {
		if p.Version == version {
			return p, nil
		}
	}
	oldest := idx.placement.Version
	if len(idx.past) > 0 {
		oldest = idx.past[0].Version
	}
	return idx.placement, exception.New(exception.IllegalArgument, "version [%d] of the placement of index [%s] is not remembered, those from [%d] to [%d] are",
		version, idx.record.Name, oldest, idx.placement.Version)
}

// at is the shard of a row. One that owned something in an older placement alone is stale.
func (idx *index) at(row placement.Shard) (shard.Shard, error) {
	if sh := idx.shards[row.Number]; sh != nil {
		return sh, nil
	}
	if _, named := idx.placement.Shard(row.Number); named || idx.shards == nil {
		return nil, exception.New(exception.UnavailableShards, "[%s][%d] the shard is not open", idx.record.Name, row.Number)
	}
	return nil, &shard.Stale{ID: shard.ID{Index: idx.entry.Number, Number: row.Number}, Asked: row.Epoch}
}
