package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/work"
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
	for n := range idx.Shards {
		shard, err := idx.Shard(ctx, n)
		if fault.Is(err, fault.NotFound) && t.plan.AllowPartial {
			continue
		}
		if err != nil {
			return err
		}
		cuts, err := shard.Split(ctx, int(bytesOf(shard)/max(t.plan.ItemBytes, 1))+1)
		if err != nil {
			return err
		}
		for i := range len(cuts) - 1 {
			item := work.Item{Index: index.Source, Shard: n, Start: cuts[i], End: cuts[i+1], Cursor: cuts[i]}
			item.CreatorID = t.Worker
			if err := t.Driver.Make(ctx, t.itemKey(&item), item); err != nil {
				return err
			}
		}
	}
	return nil
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
