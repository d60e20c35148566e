package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// pages is a server with documents of one shard, by number, that gives pages of
// a point in time, or of a scroll.
type pages struct {
	version string
	docs    int
	length  int            // of a document
	most    int            // of documents in a page: more is refused
	befall  map[int]string // page request, from 1 → an answer instead
	sizes   []int          // that were asked for
	scrolls int
}

func (p *pages) RoundTrip(r *http.Request) (*http.Response, error) {
	path := r.URL.Path
	switch {
	case path == "" || path == "/":
		return answer(r, 200, fmt.Sprintf(`{"version":{"distribution":"opensearch","number":%q}}`, p.version)), nil
	case strings.Contains(path, "_settings"):
		return answer(r, 200, `{"a":{"settings":{"index.number_of_shards":"1"}}}`), nil
	case strings.HasSuffix(path, "point_in_time"):
		return answer(r, 200, `{"pit_id":"p1"}`), nil
	}
	var asked struct {
		Size  int     `json:"size"`
		After []int   `json:"search_after"`
		ID    *string `json:"scroll_id"`
		PIT   struct{ ID string }
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	first := 0
	if len(asked.After) > 0 {
		first = asked.After[0] + 1
	}
	if asked.ID != nil {
		first, asked.Size = p.scrolls, p.sizes[0]
	}
	p.sizes = append(p.sizes, asked.Size)
	if befalls, ok := p.befall[len(p.sizes)]; ok {
		if befalls == "lost" {
			p.scrolls += asked.Size
			return nil, errors.New("connection reset by peer")
		}
		return answer(r, 404, befalls), nil
	}
	if p.most > 0 && asked.Size > p.most {
		return answer(r, 429, exceptionBody(429, "circuit_breaking_exception", "Data too large")), nil
	}
	var hits []string
	for i := first; i < min(first+asked.Size, p.docs); i++ {
		hits = append(hits, fmt.Sprintf(`{"_index":"a","_id":"%d","_version":3,"_seq_no":%d,"_primary_term":1,"_score":null,"_source":{"t":%q},"sort":[%d]}`, i, i, strings.Repeat("x", p.length), i))
		p.scrolls = i + 1
	}
	return answer(r, 200, fmt.Sprintf(`{"_scroll_id":"s","pit_id":"p2","timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,"hits":[%s]}}`, strings.Join(hits, ","))), nil
}

// walk counts the documents, which must come in order and once.
func walk(t *testing.T, s *cluster.Slice) (n int, err error) {
	t.Helper()
	for {
		doc, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if string(doc.ID) != fmt.Sprint(n) || doc.Versions.Version != 3 {
			t.Fatalf("document %d is %s %+v", n, doc.ID, doc.Versions)
		}
		n++
	}
}

func TestPagesFollowTheSizeOfDocuments(t *testing.T) {
	for _, tc := range []struct {
		name   string
		p      pages
		page   int // bytes
		at     int // most documents of a page once sizes are known
		atMost int // requests
	}{
		{"small", pages{version: "2.19.0", docs: 30_000, length: 10}, 1 << 20, 10_000, 12},
		{"large", pages{version: "2.19.0", docs: 500, length: 10_000}, 100_000, 9, 70},
		{"scroll", pages{version: "1.3.0", docs: 500, length: 10}, 100_000, 128, 6},
		{"a server that gives less", pages{version: "2.19.0", docs: 500, length: 10, most: 40}, 100_000, 512, 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := cluster.Via(&tc.p, "x")
			scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{PageBytes: tc.page})
			must(t, err)
			if n, err := walk(t, scan.Slice(0, "")); n != tc.p.docs || err != nil {
				t.Errorf("%d documents: %v", n, err)
			}
			if len(tc.p.sizes) > tc.atMost {
				t.Errorf("%d requests", len(tc.p.sizes))
			}
			for _, size := range tc.p.sizes[1:] {
				if size > tc.at {
					t.Errorf("a page of %d: %v", size, tc.p.sizes)
				}
			}
			if tc.p.version == "2.19.0" && scan.State().Point != "p2" {
				t.Errorf("the point is %q", scan.State().Point)
			}
		})
	}
}

// A place that the server has forgotten is told as such, and never passed over.
func TestALostPlaceEndsAScan(t *testing.T) {
	missing := exceptionBody(404, "search_context_missing_exception", "No search context found for id [7]")
	// As OpenSearch 2.19.0 answers.
	whole := `{"error":{"root_cause":[{"type":"search_context_missing_exception","reason":"No search context found for id [4]"}],"type":"search_phase_execution_exception",` +
		`"reason":"all shards failed","phase":"query","grouped":true,"failed_shards":[]},"status":404}`
	for _, tc := range []struct {
		name, version, befalls string
		kind                   fault.Kind
	}{
		{"point in time", "2.19.0", missing, fault.Stale},
		{"point in time, by all shards", "2.19.0", whole, fault.Stale},
		{"scroll", "1.3.0", missing, fault.Stale},
		{"a page of a scroll", "1.3.0", "lost", fault.Unavailable},
	} {
		p := &pages{version: tc.version, docs: 1000, befall: map[int]string{3: tc.befalls}}
		c, err := cluster.Open(t.Context(), cluster.Options{Transport: p, Place: "x"})
		must(t, err)
		scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{PageBytes: 20_000})
		must(t, err)
		slice := scan.Slice(0, "")
		if n, err := walk(t, slice); !fault.Is(err, tc.kind) || n == 1000 {
			t.Errorf("%s: %d documents, %v, kind %v", tc.name, n, err, fault.KindOf(err))
		}
		if _, err := slice.Next(t.Context()); err == nil && tc.befalls == "lost" {
			t.Errorf("%s: it goes on behind the lost page", tc.name)
		}
	}
	p := &pages{version: "2.19.0", docs: 1000, befall: map[int]string{3: "lost"}}
	c, err := cluster.Open(t.Context(), cluster.Options{Transport: p, Place: "x"})
	must(t, err)
	scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{PageBytes: 20_000})
	must(t, err)
	if n, err := walk(t, scan.Slice(0, "")); n != 1000 || err != nil { // a point in time gives a page again
		t.Errorf("%d documents: %v", n, err)
	}
}

// What is no answer to a search is an error, never the end of the documents.
func TestPagesThatAreNone(t *testing.T) {
	hit := `{"_id":"0","_version":3,"_seq_no":0,"_primary_term":1,"_source":{},"sort":[0]}`
	for _, body := range []string{
		``, `{}`, `[]`, `"x"`, `{"hits":{}}`, `{"hits":{"hits":[`, `{"hits":{"hits":[` + hit, `{"hits":{"hits":[` + hit + `,`, `{"hits":{"hits":[{"_id":7}]}}`, `{"hits":{"hits":[1]}}`,
		`{"_shards":{"failed":1},"hits":{"hits":[]}}`, `<html>`, `{"hits":{"hits":{}}}`, `{"hits":[`,
	} {
		c := cluster.Via(tripper(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "_search") {
				return answer(r, 200, body), nil
			}
			return (&pages{version: "2.19.0"}).RoundTrip(r)
		}), "x")
		scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{})
		must(t, err)
		if n, err := walk(t, scan.Slice(0, "")); err == nil || fault.KindOf(err) == fault.Bug {
			t.Errorf("%q: %d documents, %v, kind %v", body, n, err, fault.KindOf(err))
		}
	}
}

// Where places are those of a shard, no slice may meet two shards: its pages would
// pass documents over.
func TestSlicesMeetOneShardWherePlacesAreOfShards(t *testing.T) {
	for _, tc := range []struct {
		root        string
		asked, want int
	}{
		{`{"distribution":"opensearch","number":"2.19.0"}`, 1, 3},
		{`{"distribution":"opensearch","number":"2.19.0"}`, 4, 6},
		{`{"distribution":"opensearch","number":"3.0.0"}`, 3, 3},
		{`{"number":"8.15.0"}`, 2, 2},
		{`{"distribution":"opensearch","number":"2.19.0","build_type":"reshelve"}`, 1, 1},
	} {
		c := cluster.Via(tripper(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.Contains(r.URL.Path, "_settings"):
				return answer(r, 200, `{"a":{"settings":{"index.number_of_shards":"3"}}}`), nil
			case r.Method == "POST":
				return answer(r, 200, `{"pit_id":"p"}`), nil
			}
			return answer(r, 200, `{"version":`+tc.root+`}`), nil
		}), "x")
		scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{Slices: tc.asked})
		must(t, err)
		if scan.Slices() != tc.want {
			t.Errorf("%s: %d slices, want %d", tc.root, scan.Slices(), tc.want)
		}
	}
}

// TestASliceThatIsRefusedIsEmptyWhereAllIs: OpenSearch has no slices of an index without a mapping. Where documents are there all
// the same, it is an error, as every other one is.
func TestASliceThatIsRefusedIsEmptyWhereAllIs(t *testing.T) {
	for _, version := range []string{"1.3.0", "2.19.0"} {
		for docs, fails := range map[int]bool{0: false, 1: true} {
			p := &pages{version: version, docs: docs, befall: map[int]string{1: exceptionBody(400, "search_phase_execution_exception", "field _id not found")}}
			c, err := cluster.Open(t.Context(), cluster.Options{Transport: p, Place: "x"})
			must(t, err)
			scan, err := c.OpenScan(t.Context(), "a", cluster.ScanOptions{Slices: 2})
			must(t, err)
			if n, err := walk(t, scan.Slice(0, "")); n != 0 || (err != nil) != fails {
				t.Errorf("%s with %d documents: %d, %v", version, docs, n, err)
			}
		}
	}
}
