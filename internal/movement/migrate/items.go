package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/snapshot"
	"golang.org/x/sync/errgroup"
)

// makeItems makes the items of every index that is on the target: one for each range of
// about ItemBytes of each shard.
func (t *turn) makeItems(ctx context.Context) error {
	entries, err := drive.Pieces[entry](ctx, t.Driver, t.key("index", ""))
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		e := entries[key]
		if e.State != work.Done {
			continue
		}
		group.Go(func() error { return t.makeItemsOf(ctx, e.Index) })
	}
	return group.Wait()
}

func (t *turn) makeItemsOf(ctx context.Context, index Index) error {
	idx, err := t.snapshot.Index(ctx, index.Source)
	if err != nil {
		return err
	}
	if index.Since != nil {
		return t.makeChanges(ctx, idx)
	}
	for n := range idx.Shards {
		shard, err := idx.Shard(ctx, n)
		if fault.Is(err, fault.NotFound) && t.plan.AllowPartial {
			continue
		}
		if err := t.makeItemsOfShard(ctx, index.Source, n, shard, err); err != nil {
			return err
		}
	}
	return nil
}

// makeItemsOfShard cuts a shard, which could perhaps not be opened, into items; the first one is
// made last: where that stands, the shard has been cut.
func (t *turn) makeItemsOfShard(ctx context.Context, index string, n int, shard *snapshot.Shard, err error) error {
	first := work.Item{Index: index, Shard: n}
	_, made := drive.Read[work.Item](ctx, t.Driver, t.itemKey(&first))
	if !fault.Is(made, fault.NotFound) {
		return made
	}
	var cuts []int64
	if err == nil {
		cuts, err = shard.Split(ctx, int(bytesOf(shard)/max(t.plan.ItemBytes, 1))+1)
	}
	if damaged(err) { // whoever reads it tells so, attempt by attempt, while the rest goes on
		cuts, err = []int64{0, work.ToEnd}, nil
	}
	for i := len(cuts) - 2; i >= 0 && err == nil; i-- {
		item := work.Item{Index: index, Shard: n, Start: cuts[i], End: cuts[i+1], Cursor: cuts[i]}
		item.CreatorID = t.Worker
		err = t.Driver.Make(ctx, t.itemKey(&item), item)
	}
	return err
}

// damaged tells whether an error is about what the repository holds, or lacks.
func damaged(err error) bool {
	return fault.Is(err, fault.Corrupt) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Refused)
}

func bytesOf(shard *snapshot.Shard) (sum int64) {
	for _, f := range shard.Files {
		sum += f.Length
	}
	return sum
}

func (t *turn) itemKey(i *work.Item) string {
	return work.ItemKey(t.movement.ID, i.Name(), t.plan.Digits)
}

// counted is a number with its noun: "1 index", "3 indices".
func counted(n int, plural string) string {
	if n == 1 {
		plural = map[string]string{"indices": "index", "items": "item", "documents": "document", "templates": "template", "aliases": "alias"}[plural]
	}
	return fmt.Sprintf("%d %s", n, plural)
}
