package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// create makes an index of so many shards for documents of the corpus.
func create(p *peers.Peer, name string, shards int) error {
	c, err := peers.Dial(p.URL)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Must("PUT", "/"+name, strings.Replace(corpus.Index, `"number_of_shards":1`, fmt.Sprintf(`"number_of_shards":%d`, shards), 1))
}

// remove deletes an index.
func remove(p *peers.Peer, name string) error {
	c, err := peers.Dial(p.URL)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Must("DELETE", "/"+name, "")
}

// later is the number of the first document that a writer writes: behind all that are loaded.
const later = 1 << 30

// writer sends small bulk requests of new documents at a rate.
type writer struct {
	url, index string
	rate       int
	most       int // documents; 0: until it is told to stop
	wrote      atomic.Int64
}

func (w *writer) write(ctx context.Context) error {
	const perRequest = 20
	c, err := peers.Dial(w.url)
	if err != nil {
		return err
	}
	defer c.Close()
	tick := time.NewTicker(time.Second * perRequest / time.Duration(w.rate))
	defer tick.Stop()
	for n := later; ctx.Err() == nil && (w.most == 0 || n < later+w.most); n += perRequest {
		<-tick.C
		status, answer, err := c.Do(peers.Request("POST", "/"+w.index+"/_bulk", "application/x-ndjson", corpus.Bulk(n, n+perRequest)))
		if err != nil {
			return err
		}
		if status != 200 || !bytes.Contains(answer, []byte(`"errors":false`)) {
			return fmt.Errorf("a bulk request: %d %.300s", status, answer)
		}
		w.wrote.Add(perRequest)
	}
	return nil
}

// work is what clients got done in a while.
type work struct {
	searches peers.Taken
	writes   float64 // a second
	long     time.Duration
}

// beside measures one client's searches while more says so, and what the writer does meanwhile.
func (w *writer) beside(p *peers.Peer, more func() bool) (done work, err error) {
	began, wrote := time.Now(), w.wrote.Load()
	done.searches, err = search(p, w.index, more)
	done.long = time.Since(began)
	done.writes = float64(w.wrote.Load()-wrote) / done.long.Seconds()
	return done, err
}

// search measures one client's searches, which are of each kind in turn.
func search(p *peers.Peer, name string, more func() bool) (peers.Taken, error) {
	ask := func(i int) []byte {
		body := [...]string{
			`{"query":{"match_all":{}}}`,
			fmt.Sprintf(`{"query":{"match":{"body":"%s %s"}}}`, corpus.Word(20+i%280), corpus.Word(300+7*i%9000)),
			fmt.Sprintf(`{"query":{"bool":{"filter":[{"term":{"branch":"branch-%d"}},{"range":{"pages":{"gte":200,"lt":700}}}]}},"sort":[{"price":"asc"}]}`, i%corpus.Branches),
			fmt.Sprintf(`{"query":{"term":{"subject":"subject-%d"}}}`, i%corpus.Subjects),
			fmt.Sprintf(`{"size":0,"query":{"term":{"subject":"subject-%d"}},"aggs":{"by":{"terms":{"field":"branch"}}}}`, i%corpus.Subjects),
		}[i%5]
		return peers.Request("POST", "/"+name+"/_search", "application/json", []byte(body))
	}
	return p.Measure(1, more, ask, func(_ int, answer []byte) error {
		if !bytes.Contains(answer, []byte(`"timed_out":false`)) || !bytes.Contains(answer, []byte(`"failed":0`)) {
			return fmt.Errorf("a search: %.300s", answer)
		}
		return nil
	})
}

// copied reads an index by a scroll and writes what was loaded into another, as a client does
// that has no other way; both are then searchable.
func copied(p *peers.Peer, from, to string) error {
	read, err := peers.Dial(p.URL)
	if err != nil {
		return err
	}
	defer read.Close()
	write, err := peers.Dial(p.URL)
	if err != nil {
		return err
	}
	defer write.Close()
	ask := peers.Request("POST", "/"+from+"/_search?scroll=5m", "application/json", []byte(`{"size":1000,"sort":["_doc"]}`))
	for {
		status, answer, err := read.Do(ask)
		var page struct {
			ID   string `json:"_scroll_id"`
			Hits struct {
				Hits []struct {
					ID     string          `json:"_id"`
					Source json.RawMessage `json:"_source"`
				}
			}
		}
		if err == nil && status == 200 {
			err = json.Unmarshal(answer, &page)
		}
		if err != nil || status != 200 {
			return fmt.Errorf("a page: %d %.300s: %w", status, answer, err)
		}
		if len(page.Hits.Hits) == 0 {
			return write.Must("POST", "/"+to+"/_refresh", "")
		}
		var body bytes.Buffer
		for _, h := range page.Hits.Hits {
			if n, err := strconv.Atoi(h.ID); err != nil || n >= later {
				continue
			}
			fmt.Fprintf(&body, "{\"index\":{\"_id\":%q}}\n%s\n", h.ID, h.Source)
		}
		if body.Len() > 0 {
			if err := write.Bulk(peers.Request("POST", "/"+to+"/_bulk", "application/x-ndjson", body.Bytes())); err != nil {
				return err
			}
		}
		ask = peers.Request("POST", "/_search/scroll", "application/json", fmt.Appendf(nil, `{"scroll":"5m","scroll_id":%q}`, page.ID))
	}
}

// segments are what a search of an index looks into.
type segments struct{ documents, count int64 }

func (s segments) String() string { return fmt.Sprintf("%d in %d", s.documents, s.count) }

func segmentsOf(p *peers.Peer, name string) (segments, error) {
	response, err := http.Get(p.URL + "/" + name + "/_stats/docs,segments")
	if err != nil {
		return segments{}, err
	}
	var all struct {
		All struct {
			Primaries struct{ Docs, Segments struct{ Count int64 } }
		} `json:"_all"`
	}
	err = peers.Decoded(response, http.StatusOK, &all)
	return segments{all.All.Primaries.Docs.Count, all.All.Primaries.Segments.Count}, err
}
