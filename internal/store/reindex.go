package store

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Reindex makes the segments of a shard again, out of what is written; see shard.Shard.
func (s *Store) Reindex(ctx context.Context, index, number uint32, told func(rows int64)) error {
	sh, err := s.ofNumber(index, number)
	if err == nil {
		err = sh.Reindex(ctx, told)
	}
	return err
}

// Mend lets shards show again what there is; see shard.Shard.
func (s *Store) Mend(ctx context.Context, index uint32, numbers []uint32) error {
	for _, number := range numbers {
		sh, err := s.ofNumber(index, number)
		if err == nil {
			err = sh.Mend(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SameShards checks that an index still has the shards of a placement: what was done to one after the
// other was else not done to all that it has.
func (s *Store) SameShards(ctx context.Context, p placement.Placement) error {
	now, err := s.Placement(ctx, p.Index)
	if err == nil && !slices.Equal(now.Shards, p.Shards) {
		err = fault.WithNext(fault.New(fault.Unavailable, "its shards have become others meanwhile: not all of them were met"), "begin again")
	}
	return err
}

// Estimated reports whether one of some shards has counted its documents by what its segments show
// alone, since it has changed hands; soon it will have counted its rows.
func (s *Store) Estimated(index uint32, numbers []uint32) bool {
	for _, number := range numbers {
		if sh, err := s.ofNumber(index, number); err == nil && sh.Stats().Estimated {
			return true
		}
	}
	return false
}

// Repaired is what a shard has indexed again.
type Repaired struct {
	Index string
	Shard uint32
	shard.Repairs
}

// Repairs are those of all open shards, since they were opened.
func (s *Store) Repairs() (all []Repaired) {
	for name, idx := range s.view.Load().indices {
		for number, sh := range idx.shards {
			all = append(all, Repaired{Index: name, Shard: number, Repairs: sh.Stats().Repairs})
		}
	}
	return all
}

func (s *Store) ofNumber(index, number uint32) (shard.Shard, error) {
	idx := s.view.Load().numbered(index)
	if idx == nil {
		return nil, gone(index)
	}
	sh := idx.shards[number]
	if sh == nil {
		return nil, fault.New(fault.Stale, "index %s has no open shard %d", idx.record.Name, number)
	}
	return sh, nil
}
