package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// ByQuery changes the documents that a search finds, as they are at its beginning. What
// has been changed meanwhile is a conflict, and is left alone.
type ByQuery struct {
	Where   Where
	Request search.Request // what is found, and in which order; how many at a time is Batch
	Most    int64          // documents; 0: all that are found
	Batch   int            // documents at a time; 0: 1000
	Proceed bool           // go on after conflicts
	Refresh bool           // what was changed, at the end
	Into    *Into          // where documents are copied to; nil: they are changed where they are
	Delete  bool           // else they are written again
	Active  document.Active
}

// Into says where and how documents are copied.
type Into struct {
	Target      string
	Create      bool // only documents that are not there
	VersionType document.VersionType
	Versioned   bool    // versions are copied, and compared by VersionType
	Routing     *string // nil: each document's own; "": none
	// Source gives what is copied of a source; nil: all of it.
	Source func(source []byte) []byte
}

// Progress is what a ByQuery has done so far.
type Progress struct {
	Total, Created, Updated, Deleted int64
	Batches, Conflicts               int64
	Failures                         []ByQueryFailure
}

// ByQueryFailure is a document that could not be changed.
type ByQueryFailure struct {
	Index, ID string
	Err       error
}

// Done is how many documents have been looked at.
func (p *Progress) Done() int64 { return p.Created + p.Updated + p.Deleted + p.Conflicts }

// Change does it. Told is called after each batch. It ends at the first batch with a
// failure, or with a conflict unless those are to be passed over; what was changed by then
// stays changed. An end of ctx ends it after the batch at work.
func (s *Store) Change(ctx context.Context, q ByQuery, told func(Progress)) (Progress, error) {
	var p Progress
	parts, err := s.visitAgain(ctx, q.Where.Expression, q.Where.Routing, nil)
	if err != nil {
		return p, err
	}
	pinned := &Point{parts: parts, points: &s.points, users: 1, scroll: &scroll{}} // read page by page
	defer func() { _ = closeParts(parts) }()
	r := q.Request
	r.Sort, r.TrackTotal = byDoc(r.Sort), -1
	if q.Batch == 0 {
		q.Batch = 1000
	}
	for {
		r.Size = q.Batch
		if q.Most > 0 {
			r.Size = int(min(int64(q.Batch), q.Most-p.Done()))
		}
		pinned.users++ // the page's
		f, err := s.findIn(ctx, parts, pinned, r, true)
		if err != nil {
			return p, err
		}
		if r.After == nil {
			p.Total = f.Total
			if q.Most > 0 {
				p.Total = min(p.Total, q.Most)
			}
			r.TrackTotal = 0
		}
		if len(f.Hits) == 0 {
			break
		}
		if err := s.changeBatch(ctx, q, f, &p); err != nil {
			return p, err
		}
		r.After = f.Hits[len(f.Hits)-1].Sort
		told(p)
		if len(p.Failures) > 0 || q.Most > 0 && p.Done() >= q.Most || ctx.Err() != nil {
			break
		}
	}
	if q.Refresh {
		err = s.showChanged(ctx, q, parts)
	}
	return p, err
}

// changeBatch changes the documents of one page.
func (s *Store) changeBatch(ctx context.Context, q ByQuery, f *Found, p *Progress) error {
	writes := make([]document.Write, len(f.Hits))
	for i := range f.Hits {
		row, err := f.Document(ctx, &f.Hits[i], q.Delete)
		if err != nil {
			return err
		}
		row.Source = bytes.Clone(row.Source)
		writes[i] = q.write(f.Index(&f.Hits[i]), row)
	}
	p.Batches++
	for _, w := range s.Write(ctx, writes, document.Eventually) {
		switch {
		case exception.Is(w.Err, exception.VersionConflict):
			p.Conflicts++
			if !q.Proceed {
				p.Failures = append(p.Failures, ByQueryFailure{Index: w.Index, ID: w.ID, Err: w.Err})
			}
		case w.Err != nil:
			p.Failures = append(p.Failures, ByQueryFailure{Index: w.Index, ID: w.ID, Err: w.Err})
		case w.Outcome == document.Created:
			p.Created++
		case w.Outcome == document.Deleted:
			p.Deleted++
		default:
			p.Updated++
		}
	}
	return nil
}

// write is what is done with one document.
func (q *ByQuery) write(index string, row shard.Row) document.Write {
	w := document.Write{Target: index, ID: row.ID, Routing: row.Routing, Source: row.Source, Condition: document.Always, Active: q.Active}
	if q.Into == nil {
		w.Condition.SeqNo, w.Condition.PrimaryTerm = row.SeqNo, row.PrimaryTerm
		if q.Delete {
			w.Operation, w.Source = document.Delete, nil
		}
		return w
	}
	w.Target = q.Into.Target
	if q.Into.Create {
		w.Operation = document.Create
	}
	if q.Into.Versioned {
		w.Condition.Version, w.Condition.VersionType = row.Version, q.Into.VersionType
	}
	if q.Into.Routing != nil {
		w.Routing = *q.Into.Routing
	}
	if q.Into.Source != nil {
		w.Source = q.Into.Source(row.Source)
	}
	return w
}

// showChanged refreshes what was changed: the indices that were searched, or the one that
// was copied to.
func (s *Store) showChanged(ctx context.Context, q ByQuery, parts [][]part) error {
	var names []string
	for _, of := range parts {
		names = append(names, of[0].index.record.Name)
	}
	if q.Into != nil {
		names = []string{q.Into.Target}
	}
	slices.Sort(names)
	e := q.Where.Expression
	e.Names = names
	_, err := s.Refresh(ctx, e)
	return err
}
