package memory

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// segments are those of one view: all its documents in one, made when somebody asks.
type segments struct {
	once  sync.Once
	views []segment.View
}

// of makes the segment of the documents of a range, in the order of their sequence
// numbers. The rows never change, so it is the same whenever it is made.
func (s *segments) of(rows tree, within routing.Range, indexer shard.Indexer) []segment.View {
	s.once.Do(func() {
		var docs []*shard.Row
		for row := range rows.within(within, nil) {
			if !row.Deleted {
				docs = append(docs, row)
			}
		}
		if indexer == nil || len(docs) == 0 {
			return
		}
		slices.SortFunc(docs, func(a, b *shard.Row) int { return cmp.Compare(a.SeqNo, b.SeqNo) })
		s.views = []segment.View{{Segment: build(docs, indexer)}}
	})
	return s.views
}

// build panics where there are more documents than a segment can have: more than this
// engine is for.
func build(docs []*shard.Row, indexer shard.Indexer) *segment.Segment {
	b := segment.NewBuilder()
	index := indexer.Into(b)
	for _, row := range docs {
		if err := index(*row); err != nil {
			slog.Warn("store: a document cannot be found by all of its fields", "id", row.ID, "cause", err)
		}
	}
	data, err := b.Build()
	if err != nil {
		panic(err)
	}
	built, err := segment.Open(data)
	if err != nil {
		panic(err)
	}
	return built
}
