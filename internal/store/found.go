package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Found is what a search has found, and the readers that it was found in: the documents
// of its hits are read from them, so that a hit always matches its query. Close it.
type Found struct {
	search.Result
	Shards int       // that were searched, those of Failed among them
	Failed []Failure // indices that the search has failed in, and goes on without, and such as lack something

	ScrollState any    // of a scroll: what Scroll was given
	Keys        int    // of the order that was asked for: a scroll's hits have one more
	Scroll      string // id of the scroll; "": none

	parts  [][]part                    // by index and source, as the hits count them
	rows   map[shard.Reader]shard.Rows // of the readers that documents were read from last
	all    [][]part                    // and those of the indices that failed
	pinned *Point                      // whose readers they are; nil: the search's own
	whole  bool                        // no index may be left out
	left   []string                    // names of indices whose hits are left out
}

// rowsOpen is of how many readers a search keeps the place at which it reads documents.
const rowsOpen = 16

// Document is the row of a hit, which is valid until the next call.
func (f *Found) Document(ctx context.Context, h *search.Hit, noSource bool) (shard.Row, error) {
	reader := f.parts[h.Index][h.Source].reader
	rows := f.rows[reader]
	if rows == nil {
		if len(f.rows) == rowsOpen {
			if err := f.closeRows(); err != nil {
				return shard.Row{}, err
			}
		}
		if f.rows == nil {
			f.rows = map[shard.Reader]shard.Rows{}
		}
		rows = reader.Rows()
		f.rows[reader] = rows
	}
	row, ok, err := rows.Get(ctx, shard.Ref{Key: h.Key, ID: h.ID}, noSource)
	if err == nil && (!ok || row.Deleted) {
		err = exception.New(exception.IllegalState, "document [%s] is in the segments of a reader and not in its rows", h.ID)
	}
	return row, err
}

// Index is the name of the index of a hit.
func (f *Found) Index(h *search.Hit) string { return f.parts[h.Index][h.Source].index.record.Name }

// Searched is the index of a hit as it was searched.
func (f *Found) Searched(h *search.Hit) search.Index { return searched(f.parts[h.Index]) }

// Schema is that of the index of a hit.
func (f *Found) Schema(h *search.Hit) *fields.Schema { return f.parts[h.Index][h.Source].index.schema }

// Kept is what the mapping of a hit's index leaves of the sources that are shown.
func (f *Found) Kept(h *search.Hit) query.SourceFilter { return f.parts[h.Index][h.Source].index.kept }

// MostAnalyzed is how long the texts of a hit's index may be to be highlighted, in units of
// UTF-16.
func (f *Found) MostAnalyzed(h *search.Hit) int {
	return f.parts[h.Index][h.Source].index.rules.analyzed
}

// View is the view that a hit was found in.
func (f *Found) View(h *search.Hit) segment.View {
	return f.parts[h.Index][h.Source].reader.Views()[h.View]
}

// Close lets go of the readers.
func (f *Found) Close() error {
	err := f.closeRows()
	if f.pinned != nil {
		return joined(err, f.pinned.release())
	}
	return joined(err, closeParts(f.all))
}

func (f *Found) closeRows() (err error) {
	for reader, rows := range f.rows {
		err = joined(err, rows.Close())
		delete(f.rows, reader)
	}
	return err
}

func closeParts(parts [][]part) (err error) {
	for _, of := range parts {
		for _, p := range of {
			err = joined(err, p.reader.Close())
		}
	}
	return fault.At(err, "closing readers")
}
