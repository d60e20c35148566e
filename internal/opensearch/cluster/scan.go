package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// ScanOptions say how an index is read. The zero value of a field is its default.
type ScanOptions struct {
	Slices    int           // parts that can be read at the same time: at least so many; 1. The server's shards may ask for more
	PageBytes int           // what one page of a slice aims at: 4 MiB; 1 MiB where no search is behind it
	KeepAlive time.Duration // how long the server keeps its place between two pages: 5 minutes
}

// ScanState is what a scan is resumed from, beside the cursors of its slices.
type ScanState struct {
	Index  string `json:"index"`
	Point  string `json:"point"` // the point in time, as the server names it
	Slices int    `json:"slices"`
}

// Scan is every document of one index, as of the moment when it was opened: of a
// point in time where the server has them (OpenSearch 2.4, Elasticsearch 7.12,
// Reshelve), else of a scroll, which cannot be resumed.
type Scan struct {
	client *Client
	o      ScanOptions
	order  string // the sort that makes places: of a slice, or of all

	mu    sync.Mutex
	state ScanState
}

// OpenScan begins to read an index, which must be one and no alias. What was
// written shortly before is only seen after a refresh; see Count.
func (c *Client) OpenScan(ctx context.Context, index string, o ScanOptions) (*Scan, error) {
	s, shards, err := c.newScan(ctx, index, o)
	if err != nil {
		return nil, err
	}
	s.state.Slices = max(1, s.o.Slices)
	if s.order == "_doc" && !s.byRows() { // a place is one of a shard: a slice must not meet two of them
		s.state.Slices = (s.state.Slices + shards - 1) / shards * shards
	}
	if s.pointed() {
		s.state.Point, err = s.open(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ResumeScan goes on with a scan whose point in time still lives. Slices begin at
// the cursors that they are given.
func (c *Client) ResumeScan(ctx context.Context, state ScanState, o ScanOptions) (*Scan, error) {
	s, _, err := c.newScan(ctx, state.Index, o)
	if err != nil {
		return nil, err
	}
	if state.Point == "" {
		return nil, fault.At(fault.New(fault.Refused, "a scan of %s cannot be resumed", c.server.Load()), c.place)
	}
	s.state = state
	return s, nil
}

func (c *Client) newScan(ctx context.Context, index string, o ScanOptions) (s *Scan, shards int, err error) {
	server, err := c.Server(ctx)
	if err != nil {
		return nil, 0, err
	}
	if server.Product == Reshelve {
		setDefault(&o.PageBytes, 1<<20)
	}
	setDefault(&o.PageBytes, 4<<20)
	setDefault(&o.KeepAlive, 5*time.Minute)
	s = &Scan{client: c, o: o, order: "_doc", state: ScanState{Index: index}}
	if server.Elastic(7, 12) {
		s.order = "_shard_doc"
	}
	shards, err = c.shardsOf(ctx, index)
	return s, shards, err
}

// shardsOf is how many shards an index has, which is one and no alias. Credentials that may do nothing but read are not
// told its settings: a search for nothing counts the shards, and does not tell an alias from an index.
func (c *Client) shardsOf(ctx context.Context, index string) (int, error) {
	answer, err := c.Send(ctx, Request{Method: http.MethodGet, Path: []string{index, "_settings", "index.number_of_shards"}, Params: url.Values{"flat_settings": {"true"}}})
	if fault.Is(err, fault.Unauthorised) {
		return c.searched(ctx, index)
	}
	if err != nil {
		return 0, err
	}
	var indices map[string]struct {
		Settings map[string]string `json:"settings"`
	}
	if err := json.Unmarshal(answer.Body, &indices); err != nil {
		return 0, fault.At(fault.New(fault.Unavailable, "the settings of %s are not what a store answers: %w", index, err), c.place)
	}
	one, ok := indices[index]
	if len(indices) != 1 || !ok {
		return 0, c.notAnIndex(index, len(indices))
	}
	shards, _ := strconv.Atoi(one.Settings["index.number_of_shards"])
	return max(1, shards), nil
}

// searched is how many shards a search in an index asks.
func (c *Client) searched(ctx context.Context, index string) (int, error) {
	answer, err := c.Send(ctx, Request{Method: http.MethodGet, Path: []string{index, "_search"}, Params: url.Values{"size": {"0"}, "track_total_hits": {"false"}}})
	if err != nil {
		return 0, err
	}
	var told struct {
		Shards struct {
			Total int `json:"total"`
		} `json:"_shards"`
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil {
		return 0, fault.At(fault.New(fault.Unavailable, "the answer is none to a search: %w", err), c.place)
	}
	return max(1, told.Shards.Total), nil
}

// pointed tells whether the server has points in time that places can be compared in.
func (s *Scan) pointed() bool {
	server := s.client.server.Load()
	return server.Product == Reshelve || server.Open(2, 4) || server.Elastic(7, 12)
}

func (s *Scan) keep() string { return strconv.Itoa(int(s.o.KeepAlive/time.Second)) + "s" }

// open makes the point in time. A second one, when the answer to the first is
// lost, ends by itself.
func (s *Scan) open(ctx context.Context) (string, error) {
	path := []string{s.state.Index, "_search", "point_in_time"}
	if s.client.server.Load().Product == Elasticsearch {
		path = []string{s.state.Index, "_pit"}
	}
	answer, err := s.client.Send(ctx, Request{Method: http.MethodPost, Path: path, Params: url.Values{"keep_alive": {s.keep()}}, Harmless: true})
	if fault.Is(err, fault.Refused) || fault.Is(err, fault.NotFound) {
		return "", nil // a distribution without them: the scroll tells what else is wrong
	}
	if err != nil {
		return "", err
	}
	var point struct {
		PIT string `json:"pit_id"`
		ID  string `json:"id"`
	}
	if err := json.Unmarshal(answer.Body, &point); err != nil || point.PIT+point.ID == "" {
		return "", fault.At(fault.New(fault.Unavailable, "the point in time is not what a store answers"), s.client.place)
	}
	return point.PIT + point.ID, nil
}

// Renew lets the point in time live on while nobody reads: fault.Stale when the server has
// forgotten it.
func (s *Scan) Renew(ctx context.Context) error {
	if s.State().Point == "" {
		return nil
	}
	_, err := s.look(ctx, false)
	return err
}

// look searches in the point in time for nothing, and perhaps counts what there is.
func (s *Scan) look(ctx context.Context, counts bool) (answer []byte, err error) {
	body := fmt.Appendf(nil, `{"size":0,"track_total_hits":%t,"pit":{"id":%q,"keep_alive":%q}}`, counts, s.State().Point, s.keep())
	told, err := s.client.Send(ctx, Request{Method: http.MethodPost, Path: []string{"_search"}, Body: body, Harmless: true,
		Params: url.Values{"allow_partial_search_results": {"false"}}})
	if err != nil {
		return nil, lost(err)
	}
	var point struct {
		PIT string `json:"pit_id"`
	}
	if err := json.Unmarshal(told.Body, &point); err != nil {
		return nil, fault.At(fault.New(fault.Unavailable, "the answer is none to a search: %w", err), s.client.place)
	}
	s.renew(point.PIT)
	return told.Body, nil
}

// State is what ResumeScan takes; without a Point it takes nothing.
func (s *Scan) State() ScanState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// renew notes the name that the server now gives to the point in time.
func (s *Scan) renew(point string) {
	if point == "" {
		return
	}
	s.mu.Lock()
	s.state.Point = point
	s.mu.Unlock()
}

// Slices is the number of slices; each document is in one of them.
func (s *Scan) Slices() int { return s.state.Slices }

// Slice reads a part, from 0 to Slices()-1. After is where an earlier reader of
// the same scan stood (see Slice.Cursor); "" is the beginning.
func (s *Scan) Slice(number int, after string) *Slice {
	return &Slice{scan: s, number: number, cursor: []byte(after), size: firstPage}
}

// Close ends the point in time. It may be called when it has ended already.
func (s *Scan) Close(ctx context.Context) error {
	point := s.State().Point
	if point == "" {
		return nil
	}
	path, body := []string{"_search", "point_in_time"}, map[string]any{"pit_id": []string{point}}
	if s.client.server.Load().Product == Elasticsearch {
		path, body = []string{"_pit"}, map[string]any{"id": point}
	}
	text, _ := json.Marshal(body) // strings
	_, err := s.client.Send(ctx, Request{Method: http.MethodDelete, Path: path, Body: text, Harmless: true})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// lost explains a place that the server has forgotten.
func lost(err error) error {
	if !exception.Is(err, exception.SearchContextMissing) {
		return err
	}
	return fault.WithNext(fault.Wrap(fault.Stale, err), "begin the scan again: the server has forgotten where it was")
}

// Count refreshes an index and counts its documents, nested ones not counted.
func (c *Client) Count(ctx context.Context, index string) (int64, error) {
	if _, err := c.Send(ctx, Request{Method: http.MethodPost, Path: []string{index, "_refresh"}, Harmless: true}); err != nil {
		return 0, err
	}
	return c.CountShown(ctx, index)
}

// CountShown counts the documents of an index that its last refresh has shown, nested ones not counted.
func (c *Client) CountShown(ctx context.Context, index string) (int64, error) {
	answer, err := c.Send(ctx, Request{Method: http.MethodGet, Path: []string{index, "_count"}})
	if err != nil {
		return 0, err
	}
	var told struct {
		Count  int64 `json:"count"`
		Shards struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil || told.Shards.Failed > 0 {
		return 0, fault.At(fault.New(fault.Unavailable, "%s was not counted whole: %d shards failed", index, told.Shards.Failed), c.place)
	}
	return told.Count, nil
}

// question is the body of a search for one page.
func (s *Slice) question() []byte {
	scan := s.scan
	out := fmt.Appendf(nil, `{"size":%d,"sort":[%q],"version":true`, s.size, scan.order)
	if n := scan.Slices(); n > 1 && s.refused == nil {
		out = fmt.Appendf(out, `,"slice":{"id":%d,"max":%d}`, s.number, n)
	}
	if point := scan.State().Point; point != "" {
		out = fmt.Appendf(out, `,"track_total_hits":false,"pit":{"id":%q,"keep_alive":%q}`, point, scan.keep()) // a scroll counts always
	}
	if len(s.cursor) > 0 {
		out = append(append(out, `,"search_after":`...), s.cursor...)
	}
	return append(out, '}')
}
