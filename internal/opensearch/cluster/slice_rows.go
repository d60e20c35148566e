package cluster

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

// byRows tells whether the server gives the rows of a point in time without searching.
func (s *Scan) byRows() bool { return s.client.server.Load().Product == Reshelve }

// nextRow is Next where they are read.
func (s *Slice) nextRow(ctx context.Context) (*document.Document, error) {
	for !s.ended {
		if s.left == nil {
			if err := s.askRows(ctx); err != nil {
				return nil, err
			}
		}
		left, err := s.row.Read(s.left)
		if err != nil {
			return nil, s.strange(err)
		}
		s.left = left
		switch {
		case left == nil && s.count == 0:
			s.ended = true
			continue
		case left == nil:
			s.cursor = []byte(s.row.Place()) // the next page is read over this one
			continue
		}
		s.count++
		s.versions = document.Versions{Version: s.row.Version, SeqNo: -1, PrimaryTerm: -1}
		s.doc = document.Document{Index: s.scan.state.Index, ID: s.row.ID, Routing: s.row.Routing, Versions: &s.versions}
		if len(s.row.Source) > 0 {
			s.doc.Source = s.row.Source
		}
		return &s.doc, nil
	}
	return nil, io.EOF
}

// askRows gets the rows behind the cursor.
func (s *Slice) askRows(ctx context.Context) error {
	scan, c := s.scan, s.scan.client
	r := Request{Method: http.MethodGet, Path: []string{"_reshelve", "rows"}, Params: url.Values{
		"pit": {scan.State().Point}, "keep_alive": {scan.keep()}, "after": {string(s.cursor)},
		"slice": {strconv.Itoa(s.number)}, "slices": {strconv.Itoa(scan.Slices())},
		"bytes": {strconv.Itoa(scan.o.PageBytes)},
	}}
	err := insist(ctx, c.patience, func() *trouble {
		_, t := c.exchange(ctx, &r, &s.page)
		return t
	})
	if err != nil {
		return lost(err)
	}
	s.left, s.count = s.page.Bytes(), 0
	return nil
}

// Shown is how many documents a search in the point in time finds, where documents are read
// without searching; -1 elsewhere.
func (s *Scan) Shown(ctx context.Context) (int64, error) {
	if !s.byRows() {
		return -1, nil
	}
	var told struct {
		Hits struct{ Total struct{ Value int64 } }
	}
	answer, err := s.look(ctx, true)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return 0, fault.At(fault.New(fault.Unavailable, "the answer is none to a search: %w", err), s.client.place)
	}
	return told.Hits.Total.Value, nil
}
