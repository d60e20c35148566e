package store

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Catalog is every name, as it was last read.
func (s *Store) Catalog() catalog.Catalog { return s.view.Load().catalog }

// Mapping is the mapping of an index; false when there is no such index.
func (s *Store) Mapping(name string) (*mapping.Mapping, bool) {
	idx := s.view.Load().indices[name]
	if idx == nil {
		return nil, false
	}
	return idx.mapping, true
}

// Resolve are the names of the indices that an expression means, sorted.
func (s *Store) Resolve(_ context.Context, e catalog.Expression) ([]string, error) {
	return s.view.Load().catalog.Resolve(e, s.options.Clock().UnixMilli())
}

// Status tells what the indices of an expression are, and how they are now, by name.
func (s *Store) Status(ctx context.Context, e catalog.Expression) ([]catalog.Status, error) {
	names, err := s.Resolve(ctx, e)
	if err != nil {
		return nil, err
	}
	v := s.view.Load()
	var all []catalog.Status
	for _, name := range names {
		for round := 1; v.indices[name] != nil; round++ {
			idx := v.indices[name]
			if status, settled := idx.status(v.catalog); settled {
				apportion(status.Shards, func() (int64, bool) { return s.engine.OnDisk(idx.entry.Number) })
				all = append(all, status)
				break
			}
			if err := s.reloadAfter(ctx, name, round); err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			v = s.view.Load()
		}
	}
	return all, nil
}

// apportion gives each shard its part of the bytes that the index takes on disk, in place of
// those of its documents: together they are exactly as many. Shards have no files of their own
// while they show the same ones after a split.
func apportion(shards []catalog.ShardStatus, onDisk func() (int64, bool)) {
	left, known := onDisk()
	whole := int64(0)
	for _, sh := range shards {
		whole += sh.Bytes
	}
	for i := range shards {
		sh := &shards[i]
		part := left / int64(len(shards)-i)
		if whole > 0 {
			part = int64(float64(left) * (float64(sh.Bytes) / float64(whole)))
		}
		if whole -= sh.Bytes; i == len(shards)-1 {
			part = left
		}
		if sh.Bytes, left = part, left-part; !known {
			sh.Bytes = -1
		}
	}
}

// RoutedStatus is Status with only those shards that a search with the routing value visits;
// all of them when it is "".
func (s *Store) RoutedStatus(ctx context.Context, e catalog.Expression, routed string) ([]catalog.Status, error) {
	statuses, err := s.Status(ctx, e)
	if err != nil || routed == "" {
		return statuses, err
	}
	v := s.view.Load()
	for i := range statuses {
		idx := v.indices[statuses[i].Name]
		if idx == nil {
			continue
		}
		visited := map[uint32]bool{}
		for _, row := range idx.rows(idx.placement, splitRouting(routed), nil) {
			visited[row.Number] = true
		}
		statuses[i].Shards = slices.DeleteFunc(statuses[i].Shards, func(sh catalog.ShardStatus) bool { return !visited[sh.Number] })
	}
	return statuses, nil
}

// status is false while the shards are not what the view says: they are being handed over.
func (idx *index) status(names catalog.Catalog) (_ catalog.Status, settled bool) {
	status := catalog.Status{Index: idx.record, Entry: idx.entry, Aliases: map[string]catalog.Alias{}}
	for alias, members := range names.Aliases {
		if properties, ok := members[idx.record.Name]; ok {
			status.Aliases[alias] = properties
		}
	}
	status.Settings = maps.Clone(idx.record.Settings)
	if shards := len(idx.placement.Shards); shards > 0 { // a split or a merge changes it
		status.Settings["index.number_of_shards"] = strconv.Itoa(shards)
	}
	if idx.entry.Closed {
		status.Settings["index.verified_before_close"] = "true" // as the server marks it
	}
	for _, row := range idx.placement.Shards {
		told := catalog.ShardStatus{Number: row.Number, Range: row.Range, Epoch: row.Epoch, Term: row.Term, Node: row.Node, SeqNo: -1}
		sh := idx.shards[row.Number]
		if sh == nil {
			status.Shards = append(status.Shards, told)
			continue
		}
		counts := sh.Stats()
		told.Docs, told.Tombstones, told.Bytes = counts.Docs, counts.Tombstones, counts.Bytes
		told.SeqNo, told.Synced, told.Refreshed = counts.SeqNo, counts.Synced, counts.Refreshed
		told.Indexed, told.Deleted, told.Gets, told.Refreshes = counts.Ops.Index, counts.Ops.Delete, counts.Ops.Get, counts.Ops.Refresh
		told.Segments, told.Searchable = counts.Segments, counts.Searchable
		own := idx.tallies.read(row.Number)
		told.Searches, told.Searching, told.Flushes, told.Noops = own.searches, own.searching, own.flushes, own.noops
		if sh.Placed().Epoch != row.Epoch {
			return status, false
		}
		status.Shards = append(status.Shards, told)
	}
	return status, true
}
