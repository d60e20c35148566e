package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Where says what a search looks into: what an expression means now, or a point in time.
type Where struct {
	Expression catalog.Expression
	Routing    string        // values between commas; "": all shards
	Point      string        // id of a point in time, instead of both
	Keep       time.Duration // for how long the point is kept from now on; 0: as before
	Whole      bool          // a search that fails in one index fails; else it goes on in the others
}

// Find searches as the last refresh shows the documents, or a point in time. Ties come by
// (index number, order key, id), so that a page goes on where the one before it ended
// whatever becomes of the shards. Close what it gives.
func (s *Store) Find(ctx context.Context, where Where, r search.Request) (*Found, error) {
	if where.Point != "" {
		pinned, err := s.enter(where.Point, where.Keep, false)
		if err != nil {
			return nil, err
		}
		return s.findIn(ctx, pinned.parts, pinned, r, where.Whole)
	}
	for mended := false; ; mended = true {
		var missed []Failure
		parts, err := s.visitAgain(ctx, where.Expression, where.Routing, &missed)
		if err != nil {
			return nil, err
		}
		found, err := s.findIn(ctx, parts, nil, r, where.Whole, missed...)
		var damaged *segment.Damaged
		if mended || !errors.As(err, &damaged) {
			return found, err
		}
		if mending := mend(ctx, parts); mending != nil {
			return nil, joined(err, mending)
		}
	}
}

// mend makes the segments again that are damaged in the shards of a search. Its readers have
// been closed. A shard that owns nothing any more is not searched again.
func mend(ctx context.Context, parts [][]part) error {
	for _, of := range parts {
		for _, p := range of {
			if err := p.shard.Mend(ctx); err != nil && !fault.Is(err, fault.Stale) {
				return err
			}
		}
	}
	return nil
}

// Count is how many documents a query finds; found, which is closed, tells in which shards.
func (s *Store) Count(ctx context.Context, where Where, q search.Query) (total int64, found *Found, err error) {
	r := search.NewRequest()
	r.Size, r.TrackTotal = 0, -1
	if q != nil {
		r.Query = q
	}
	if found, err = s.Find(ctx, where, r); err != nil {
		return 0, nil, err
	}
	return found.Total, found, found.Close()
}

// findIn searches in readers, which it closes when it fails; also when it panics: the
// process goes on then, and its shards wait for their readers when they are closed. Missed are
// shards of which no reader could be had.
func (s *Store) findIn(ctx context.Context, parts [][]part, pinned *Point, r search.Request, whole bool, missed ...Failure) (found *Found, err error) {
	f := &Found{parts: parts, all: parts, pinned: pinned, whole: whole, Failed: missed}
	defer func() {
		if found == nil {
			err = joined(err, f.Close())
		}
	}()
	for _, of := range parts {
		f.Shards += len(of)
	}
	for _, of := range missed {
		f.Shards += of.Shards
	}
	if len(missed) > 0 && (whole || len(parts) == 0) {
		return nil, f.failing(len(parts) > 0)
	}
	r.Now = s.options.Clock().UnixMilli()
	begun := time.Now()
	err = f.run(ctx, r, whole)
	took := time.Since(begun)
	s.latency.add(took, begun)
	if err == nil {
		err = f.lacking()
	}
	if err != nil {
		return nil, err
	}
	f.tallied(took)
	return f, nil
}

// finish lets collectors take in what they still hold.
func finish(collectors []search.Collector) error {
	for _, c := range collectors {
		if f, ok := c.(interface{ Finish() error }); ok {
			if err := f.Finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// searched is an index as package search takes it.
func searched(of []part) search.Index {
	idx := of[0].index
	s := search.Index{
		Number: idx.entry.Number, Name: idx.record.Name, UUID: idx.entry.UUID, Schema: idx.schema,
		Aliases: of[0].aliases, Defaults: idx.rules.defaults, Filter: of[0].filter,
		Limits: idx.rules.searches, Lenient: idx.rules.lenient,
	}
	s.Sources = make([]search.Source, 0, len(of))
	for _, p := range of {
		s.Sources = append(s.Sources, search.Source{Shard: p.row.Number, Within: p.row.Range, Views: p.reader.Views()})
	}
	return s
}

// part is one shard that a search visits.
type part struct {
	index   *index
	aliases []string     // names of the index
	filter  search.Query // that its documents must meet; nil: none
	row     placement.Shard
	shard   shard.Shard
	reader  shard.Reader
}

// visitAgain is visit, repeated with the newest placements as long as a shard is not what
// it was thought to be. Missed gets the shards that are damaged, and no parts; where it is nil, one
// of those is an error.
func (s *Store) visitAgain(ctx context.Context, e catalog.Expression, routed string, missed *[]Failure) ([][]part, error) {
	for round := 1; ; round++ {
		if missed != nil {
			*missed = nil
		}
		parts, err := s.visit(ctx, e, routed, missed)
		if !fault.Is(err, fault.Stale) {
			return parts, err
		}
		if waited := pause(ctx, round); waited != nil {
			return nil, err
		}
		if err := s.reloadAll(ctx, e); err != nil {
			return nil, err
		}
		ctx = upToDate(ctx)
	}
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

// visit acquires readers of the shards that a search meets, by index number and range.
func (s *Store) visit(ctx context.Context, e catalog.Expression, routed string, missed *[]Failure) (parts [][]part, err error) {
	v := s.view.Load() // one for all: an index that goes in between is an error, not left out
	indices, err := s.readable(v, e)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, idx := range indices {
		names = append(names, idx.record.Name)
	}
	reach, err := v.catalog.Reach(e, names, s.now().UnixMilli())
	if err != nil {
		return nil, err
	}
	for _, idx := range indices {
		visited, err := idx.visited(ctx, reach[idx.record.Name], routed, v.catalog, missed)
		if err != nil {
			return nil, joined(err, closeParts(parts))
		}
		if len(visited) > 0 {
			parts = append(parts, visited)
		}
	}
	return parts, nil
}

// readable are the open indices that an expression means, by number.
func (s *Store) readable(v *view, e catalog.Expression) (indices []*index, err error) {
	names, err := v.catalog.Resolve(e, s.now().UnixMilli())
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		idx := v.indices[name]
		switch {
		case idx == nil || idx.shards == nil:
			continue
		case idx.rules.unreadable != nil:
			return nil, idx.rules.unreadable
		case idx.unsearchable != nil:
			return nil, idx.unsearchable
		}
		indices = append(indices, idx)
	}
	slices.SortFunc(indices, func(a, b *index) int { return cmp.Compare(a.entry.Number, b.entry.Number) })
	return indices, nil
}

// visited acquires readers of the shards of an index that a search meets.
func (idx *index) visited(ctx context.Context, reach catalog.Reach, routed string, names catalog.Catalog, missed *[]Failure) (parts []part, err error) {
	filter, err := query.Filters(reach.Filters)
	if err != nil {
		return nil, err
	}
	var aliases []string
	for alias := range names.AliasesOf(idx.record.Name) {
		aliases = append(aliases, alias)
	}
	placed, err := idx.routed(ctx)
	if err != nil {
		return nil, err
	}
	var lost []part
	var cause error
	rows := idx.rows(placed, splitRouting(routed), reach.Routing)
	parts = make([]part, 0, len(rows))
	for _, row := range rows {
		p := part{index: idx, aliases: aliases, filter: filter, row: row}
		if p.shard, err = idx.at(row); err == nil {
			p.reader, err = p.shard.Acquire(ctx, row.Epoch)
		}
		if missed != nil && fault.Is(err, fault.Corrupt) { // the others can be searched
			lost = append(lost, p)
			cause = cmp.Or(cause, err)
			continue
		}
		if err != nil {
			return nil, joined(err, closeParts([][]part{parts}))
		}
		parts = append(parts, p)
	}
	if len(lost) > 0 {
		*missed = append(*missed, failure(lost, cause))
	}
	return parts, nil
}

// rows are the shards of an index that routing values visit, of the request and of an
// alias; all when there are none. As on the server, a routing value chooses shards; what
// else lies in them is found too.
func (idx *index) rows(placed placement.Placement, asked, ofAlias []string) (rows []placement.Shard) {
	rows = make([]placement.Shard, 0, len(placed.Shards))
	for _, row := range placed.Shards {
		if idx.routes(row.Range, asked) && idx.routes(row.Range, ofAlias) {
			rows = append(rows, row)
		}
	}
	return rows
}

func (idx *index) routes(to routing.Range, values []string) bool {
	for _, value := range values {
		for _, place := range routing.Places(value, idx.rules.partitions) {
			if _, meets := to.Meet(place); meets {
				return true
			}
		}
	}
	return len(values) == 0
}

// splitRouting are the values of a routing parameter.
func splitRouting(routed string) []string {
	if routed == "" {
		return nil
	}
	return strings.Split(routed, ",")
}

// isException reports whether an error is one that clients are told as it is.
func isException(err error) bool {
	var e *exception.Error
	return errors.As(err, &e)
}
