package store

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// numbered is the index of a number; nil when there is none.
func (v *view) numbered(number uint32) *index {
	for _, idx := range v.indices {
		if idx.entry.Number == number {
			return idx
		}
	}
	return nil
}

// place makes an index of the view what a placement says: shards that it names newly are
// opened, those that change are told, and then everybody routes by it, all at once. It is the one
// way in which a view gets another placement, whoever read it first, so that no view names
// shards that it has not. Shards that are no longer named are closed behind the scenes: who
// reads them goes on. The caller holds s.admin.
func (s *Store) place(ctx context.Context, old *index, p placement.Placement) error {
	if p.Version < old.placement.Version {
		return nil
	}
	changed := *old
	changed.placement = p
	if p.Version > old.placement.Version {
		changed.past = append(slices.Clone(old.past[max(0, len(old.past)-keptPlacements+1):]), old.placement)
	}
	if old.shards == nil {
		s.publish(func(v *view) { v.indices[old.record.Name] = &changed })
		return nil
	}
	changed.shards = map[uint32]shard.Shard{}
	fresh := index{record: old.record, shards: map[uint32]shard.Shard{}}
	var err error
	for _, row := range p.Shards {
		sh := old.shards[row.Number]
		if sh == nil {
			if sh, err = s.openShard(ctx, old, row.Number); err != nil {
				break
			}
			fresh.shards[row.Number] = sh
		}
		changed.shards[row.Number] = sh
	}
	for _, sh := range old.each() {
		if err == nil && !stays(sh, old.placement, p) {
			err = sh.Reload(ctx)
		}
	}
	if err != nil {
		return joined(err, fresh.closeShards())
	}
	s.publish(func(v *view) { v.indices[old.record.Name] = &changed })
	for number, sh := range old.each() {
		if changed.shards[number] == nil {
			s.vanish(old, sh)
		}
	}
	return nil
}

// stays reports whether a shard is what it was, and knows it. One that failed to follow has
// another row in what is published.
func stays(sh shard.Shard, published, next placement.Placement) bool {
	number := sh.ID().Number
	was, _ := published.Shard(number)
	row, named := next.Shard(number)
	return named && row == was && row == sh.Placed()
}

// handedOver reports whether a shard of an open index owns nothing any more. All that was
// written to it was refreshed then, and is shown by those that own its range.
func (s *Store) handedOver(sh shard.Shard) bool {
	idx := s.view.Load().numbered(sh.ID().Index)
	return idx != nil && idx.shards != nil && idx.shards[sh.ID().Number] != sh
}
