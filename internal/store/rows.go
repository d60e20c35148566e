package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// RowsOf says which rows are read: of the one index of a point in time, those of one of so many
// equal parts of all order keys, behind a place.
type RowsOf struct {
	Where       // Point and Keep
	Part, Parts int
	After       string // of document.Row.Place; "": from the beginning
}

// Rows reads documents of a point in time as they are stored, in the order of their keys and
// without searching, while take wants more: what is the fastest for all of an index. A row is
// valid until take returns.
func (s *Store) Rows(ctx context.Context, of RowsOf, take func(*document.Row) (more bool, err error)) (err error) {
	within, after, err := of.bounds()
	if err != nil {
		return err
	}
	pinned, err := s.enter(of.Point, of.Keep, false)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, pinned.release()) }() // also when it panics
	if len(pinned.parts) != 1 || pinned.parts[0][0].filter != nil {
		return exception.New(exception.IllegalArgument, "rows are read of one index without a filter, and the point in time is one of something else")
	}
	var row document.Row
	for _, p := range pinned.parts[0] {
		own, meets := p.row.Range.Meet(within)
		if !meets {
			continue
		}
		for r, err := range p.reader.Scan(ctx, shard.Select{Range: own, After: after}) {
			if err != nil {
				return err
			}
			row.Key, row.Version = uint64(r.Key), r.Version
			row.ID, row.Routing, row.Source = append(row.ID[:0], r.ID...), append(row.Routing[:0], r.Routing...), p.index.kept.Shown(r.Source)
			if more, err := take(&row); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// mostParts is into how many parts rows may be parted, as searches.
const mostParts = 1024

// bounds are the order keys that are left to be read, and the row behind which it begins.
func (of *RowsOf) bounds() (within routing.Range, after *shard.Ref, err error) {
	if of.Part < 0 || of.Part >= of.Parts || of.Parts > mostParts {
		return within, nil, exception.New(exception.IllegalArgument, "there is no part %d of %d, and there are at most %d", of.Part, of.Parts, mostParts)
	}
	within = routing.Equal(of.Parts)[of.Part]
	if of.After == "" {
		return within, nil, nil
	}
	key, id, err := document.ParsePlace(of.After)
	if after = (&shard.Ref{Key: routing.Key(key), ID: id}); err != nil || !within.Contains(after.Key) {
		return within, nil, exception.New(exception.IllegalArgument, "[%s] is no place in part %d of %d", of.After, of.Part, of.Parts)
	}
	within.From = after.Key
	return within, after, nil
}
