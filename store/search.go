package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/query"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/shard"
)

// Search finds documents as the last refresh shows them. Hits without an order of
// their own, and those by _doc, come by (index number, order key, id), so that a
// page goes on where the one before it ended whatever becomes of the shards.
func (s *Store) Search(ctx context.Context, e catalog.Expression, routed string, q query.Search) (query.Answer, error) {
	for round := 1; ; round++ {
		answer, err := s.search(ctx, e, routed, q)
		if !fault.Is(err, fault.Stale) {
			return answer, err
		}
		if waited := pause(ctx, round); waited != nil {
			return answer, err
		}
		if err := s.reloadAll(ctx, e); err != nil {
			return answer, err
		}
	}
}

// Count counts the documents that a search would find.
func (s *Store) Count(ctx context.Context, e catalog.Expression, routed string, q query.Search) (query.Answer, error) {
	q.Size, q.From, q.TrackTotal, q.Source = 0, 0, -1, query.SourceFilter{None: true}
	return s.Search(ctx, e, routed, q)
}

func (s *Store) reloadAll(ctx context.Context, e catalog.Expression) error {
	names, err := s.Resolve(ctx, e)
	for _, name := range names {
		if err := s.reload(ctx, name); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return err
}

// part is one shard that a search visits.
type part struct {
	index  *index
	row    placement.Shard
	reader shard.Reader
}

func (s *Store) search(ctx context.Context, e catalog.Expression, routed string, q query.Search) (answer query.Answer, err error) {
	parts, err := s.visit(ctx, e, routed)
	defer func() {
		for _, p := range parts {
			err = joined(err, p.reader.Close())
		}
	}()
	if err != nil {
		return answer, err
	}
	answer.Shards = len(parts)
	collect, err := newCollector(q)
	if err != nil {
		return answer, err
	}
	for _, p := range parts {
		if err := collect.part(ctx, p); err != nil {
			return answer, err
		}
	}
	answer.Total, answer.AtLeast = collect.total, false
	if q.TrackTotal > 0 && answer.Total > q.TrackTotal {
		answer.Total, answer.AtLeast = q.TrackTotal, true
	}
	answer.Hits, err = collect.hits(ctx)
	return answer, err
}

// visit acquires readers of the shards that a search meets, by index number and range.
func (s *Store) visit(ctx context.Context, e catalog.Expression, routed string) (parts []part, err error) {
	v := s.view.Load() // one for all: an index that goes in between is an error, not left out
	names, err := v.catalog.Resolve(e, s.now().UnixMilli())
	if err != nil {
		return nil, err
	}
	if err := s.unfiltered(v, e, names); err != nil {
		return nil, err
	}
	var indices []*index
	for _, name := range names {
		idx := v.indices[name]
		if idx == nil || idx.shards == nil {
			continue
		}
		if idx.rules.unreadable != nil {
			return nil, idx.rules.unreadable
		}
		indices = append(indices, idx)
	}
	slices.SortFunc(indices, func(a, b *index) int { return cmp.Compare(a.entry.Number, b.entry.Number) })
	for _, idx := range indices {
		for _, p := range idx.parts(routed) {
			if p.reader, err = idx.shards[p.row.Number].Acquire(ctx, p.row.Epoch); err != nil {
				return parts, err
			}
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// parts are the shards of an index that a routing value visits, all when it is
// "". As on the server, a routing value chooses shards; what else lies in them is
// found too.
func (idx *index) parts(routed string) (parts []part) {
	places := []routing.Range{routing.Whole}
	if routed != "" {
		places = routing.Places(routed, idx.rules.partitions)
	}
	for _, row := range idx.placement.Shards {
		visited := slices.ContainsFunc(places, func(place routing.Range) bool {
			_, meets := row.Range.Meet(place)
			return meets
		})
		if visited {
			parts = append(parts, part{index: idx, row: row})
		}
	}
	return parts
}

// unfiltered refuses aliases with filters: what a filter means is not known here,
// and leaving it out would show what it hides.
func (s *Store) unfiltered(v *view, e catalog.Expression, names []string) error {
	reach, err := v.catalog.Reach(e, names, s.now().UnixMilli())
	for name, part := range reach {
		if len(part.Filters) > 0 {
			err = exception.New(exception.IllegalArgument,
				"an alias of index [%s] has a filter, and searching through filtered aliases is not supported by this version of reshelve", name)
		}
	}
	return err
}

// hit renders a row as a hit.
func (c *collector) hit(p part, row shard.Row) query.Hit {
	h := query.Hit{
		Index: p.index.record.Name, ID: row.ID, Routing: row.Routing,
		Version: row.Version, SeqNo: row.SeqNo, PrimaryTerm: row.PrimaryTerm,
	}
	if !c.q.Source.None {
		h.Source = row.Source
	}
	for _, key := range c.q.Sort {
		var value []byte
		if key.Field == "_id" {
			value, _ = json.Marshal(row.ID) // a string always encodes
		} else {
			value, _ = json.Marshal(mark{p.index.entry.Number, row.Key, row.ID}.String())
		}
		h.Sort = append(h.Sort, value)
	}
	return h
}

// exists reports whether the reader's row is a document, for ids.
func exists(ctx context.Context, p part, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	row, ok, err := p.reader.Get(ctx, ref, noSource)
	return row, ok && !row.Deleted, err
}
