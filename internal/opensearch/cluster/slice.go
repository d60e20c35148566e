package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

// Sizes of pages, in documents: the first, before anything is known, and the most
// that servers give (index.max_result_window).
const (
	firstPage = 128
	mostPage  = 10_000
)

// Slice reads one part of a scan. It is used by one goroutine.
type Slice struct {
	scan   *Scan
	number int
	size   int    // of the next page
	cursor []byte // the sort of the last document that was handed out; of rows the place of the last page's last
	scroll string // the server's place, without a point in time

	page    bytes.Buffer // the answer that is being read
	decoder *jsontext.Decoder
	count   int // documents handed out of the page
	ended   bool
	broken  error // why a scroll cannot go on
	refused error // by a server that has no slices of an index without a mapping: all of it is asked for, which is nothing

	row  document.Row // the last that was handed out, where rows are read
	left []byte       // of a page of rows; nil: none is being read

	doc      document.Document
	versions document.Versions
}

// Cursor is where the slice stands: behind the document that Next returned last.
// It is "" where the scan cannot be resumed.
func (s *Slice) Cursor() string {
	switch {
	case s.scan.State().Point == "":
		return ""
	case s.left != nil && s.count > 0:
		return s.row.Place()
	}
	return string(s.cursor)
}

// Next is the next document, which is valid until the next call; io.EOF after the
// last. Its Source is as the server stores it, and of its Versions the version is known.
func (s *Slice) Next(ctx context.Context) (*document.Document, error) {
	if s.scan.byRows() {
		return s.nextRow(ctx)
	}
	for {
		if s.decoder != nil {
			switch s.decoder.PeekKind() {
			case '{':
				if s.refused != nil {
					return nil, s.refused
				}
				if err := s.read(); err != nil {
					return nil, s.strange(err)
				}
				s.count++
				return &s.doc, nil
			case ']':
				s.turn()
			default:
				_, err := s.decoder.ReadToken()
				return nil, s.strange(err)
			}
		}
		if s.ended {
			return nil, io.EOF
		}
		if s.broken != nil {
			return nil, s.broken
		}
		if err := s.fetch(ctx); err != nil {
			if s.scroll != "" { // its place has moved on, perhaps
				s.broken = err
			}
			return nil, err
		}
	}
}

// turn ends a page: an empty one is the last. The next has as many documents as
// bytes are aimed at.
func (s *Slice) turn() {
	s.decoder = nil
	if s.count == 0 {
		s.ended = true
		return
	}
	each := max(1, s.page.Len()/s.count)
	s.size = max(1, min(s.scan.o.PageBytes/each, 4*s.size, mostPage))
}

// fetch gets the next page. One that is too large for us or the server is asked
// for again by halves.
func (s *Slice) fetch(ctx context.Context) error {
	for {
		err := s.ask(ctx)
		if isUnmapped(err) && s.refused == nil && len(s.cursor) == 0 {
			s.refused = err
			continue
		}
		if err == nil || !fault.Is(err, fault.Limit) || s.size == 1 || s.scroll != "" {
			return lost(err)
		}
		s.size /= 2
	}
}

// isUnmapped tells whether an error is OpenSearch's for a slice of an index without a mapping.
func isUnmapped(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "field _id not found")
}

func (s *Slice) ask(ctx context.Context) error {
	r := s.request()
	if s.size > 1 {
		r.Most = int64(16 * s.scan.o.PageBytes)
	}
	c := s.scan.client
	harmless := s.scroll == ""
	patience := c.patience
	if !harmless {
		patience = -1 // a page that is lost on the way is not given again
	}
	err := insist(ctx, patience, func() *trouble {
		_, t := c.exchange(ctx, &r, &s.page)
		return t
	})
	if err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return s.strange(err)
	}
	return nil
}

// request asks for a page: the next of a scroll, or one behind the cursor.
func (s *Slice) request() Request {
	r := Request{Method: http.MethodPost, Path: []string{"_search"}, Params: url.Values{"allow_partial_search_results": {"false"}}}
	switch {
	case s.scroll != "":
		r.Path, r.Params = []string{"_search", "scroll"}, nil
		r.Body, _ = json.Marshal(map[string]string{"scroll": s.scan.keep(), "scroll_id": s.scroll}) // strings
		return r
	case s.scan.State().Point == "":
		r.Path = []string{s.scan.state.Index, "_search"}
		r.Params.Set("scroll", s.scan.keep())
	}
	r.Body = s.question()
	return r
}

// begin reads an answer down to its hits.
func (s *Slice) begin() error {
	s.count = 0
	s.decoder = jsontext.NewDecoder(bytes.NewBuffer(s.page.Bytes()), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	d := s.decoder
	if err := expect(d, '{'); err != nil {
		return err
	}
	for inner := false; ; {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() != '"' {
			return errNoHits
		}
		switch name := token.String(); {
		case name == "hits" && inner:
			return expect(d, '[')
		case name == "hits":
			inner = true
			if err := expect(d, '{'); err != nil {
				return err
			}
		case inner:
			if err := d.SkipValue(); err != nil {
				return err
			}
		default:
			if err := s.head(name); err != nil {
				return err
			}
		}
	}
}

var errNoHits = errors.New("it has no hits")

func expect(d *jsontext.Decoder, kind jsontext.Kind) error {
	token, err := d.ReadToken()
	if err == nil && token.Kind() != kind {
		err = errNoHits
	}
	return err
}

// head reads a member of an answer that stands before its hits.
func (s *Slice) head(name string) error {
	pointed := s.scan.State().Point != ""
	switch {
	case name == "_shards":
		return s.whole()
	case name == "pit_id" && pointed, name == "_scroll_id" && !pointed:
		value, err := s.decoder.ReadToken()
		if err != nil {
			return err
		}
		if id := value.String(); pointed {
			s.scan.renew(id)
		} else {
			s.scroll = id
		}
		return nil
	}
	return s.decoder.SkipValue()
}

// whole refuses an answer that lacks a shard.
func (s *Slice) whole() error {
	value, err := s.decoder.ReadValue()
	if err != nil {
		return err
	}
	var shards struct {
		Failed int `json:"failed"`
	}
	if err := json.Unmarshal(value, &shards); err != nil {
		return err
	}
	if shards.Failed > 0 {
		return fault.New(fault.Unavailable, "%d shards did not answer", shards.Failed)
	}
	return nil
}

// read reads one hit.
func (s *Slice) read() error {
	d := s.decoder
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	s.versions = document.Versions{Version: -1, SeqNo: -1, PrimaryTerm: -1}
	s.doc = document.Document{Index: s.scan.state.Index, ID: s.doc.ID[:0], Routing: s.doc.Routing[:0], Versions: &s.versions}
	for {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() == '}' {
			return nil
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := s.member(name, value); err != nil {
			return err
		}
	}
}

func (s *Slice) member(name string, value jsontext.Value) (err error) {
	switch name {
	case "_id":
		s.doc.ID, err = jsontext.AppendUnquote(s.doc.ID, value)
	case "_routing":
		s.doc.Routing, err = jsontext.AppendUnquote(s.doc.Routing, value)
	case "_source":
		end := s.decoder.InputOffset()
		s.doc.Source = s.page.Bytes()[end-int64(len(value)) : end]
	case "sort":
		s.cursor = append(s.cursor[:0], value...)
	case "_version":
		s.versions.Version, err = strconv.ParseInt(string(value), 10, 64)
	}
	return err
}

// strange is an answer that is none to a search.
func (s *Slice) strange(err error) error {
	c := s.scan.client
	if err == io.EOF { // not that of the documents
		err = io.ErrUnexpectedEOF
	}
	if kind := fault.KindOf(err); kind != fault.Bug && kind != fault.Corrupt {
		return fault.At(err, c.place)
	}
	return fault.At(fault.New(fault.Unavailable, "a page of %s is not what a store answers: %w", s.scan.state.Index, err), c.place)
}
