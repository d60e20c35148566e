package gateway

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// page is what the tests read of an answer.
type page struct {
	Scroll string `json:"_scroll_id"`
	PIT    string `json:"pit_id"`
	Task   string
	Hits   struct {
		Total struct{ Value int }
		Hits  []struct {
			ID   string `json:"_id"`
			Sort json.RawMessage
		}
	}
}

// pageReader asks a server with an index of 25 documents in three shards.
type pageReader struct {
	t *testing.T
	s *Server
}

func newPageReader(t *testing.T) pageReader {
	r := pageReader{t, newServer(t, Options{})}
	r.ask(200, "PUT", "/books", `{"settings":{"number_of_shards":3}}`)
	for i := range 25 {
		r.ask(201, "PUT", fmt.Sprintf("/books/_doc/%d", i), fmt.Sprintf(`{"n":%d,"same":"x"}`, i%4))
	}
	r.ask(200, "POST", "/books/_refresh", "")
	return r
}

func (r pageReader) ask(status int, method, path, body string) (p page) {
	r.t.Helper()
	q := httptest.NewRequest(method, path, strings.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	r.s.ServeHTTP(w, q)
	if w.Code != status {
		r.t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, w.Code, w.Body, status)
	}
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return p
}

// once notes hits, of which none may come again.
func (r pageReader) once(seen map[string]bool, p page) {
	r.t.Helper()
	for _, h := range p.Hits.Hits {
		if seen[h.ID] {
			r.t.Errorf("%s comes twice", h.ID)
		}
		seen[h.ID] = true
	}
}

// TestScrollsShowTheirBeginning: each document of the beginning once, whatever is written
// and deleted meanwhile, in any order, with ties.
func TestScrollsShowTheirBeginning(t *testing.T) {
	for _, body := range []string{`{}`, `{"sort":["n"]}`, `{"sort":["_doc"]}`, `{"query":{"match":{"same":"x"}}}`, `{"sort":[{"n":"desc"},"_id"]}`} {
		r := newPageReader(t)
		seen := map[string]bool{}
		p := r.ask(200, "POST", "/books/_search?scroll=1m&size=7", body)
		for n := 0; len(p.Hits.Hits) > 0; n++ {
			r.once(seen, p)
			if p.Hits.Total.Value != 25 {
				t.Errorf("%s: a page counts %d", body, p.Hits.Total.Value)
			}
			r.ask(201, "PUT", fmt.Sprintf("/books/_doc/new%d?refresh=true", n), `{"n":1,"same":"x"}`)
			r.ask(200, "DELETE", fmt.Sprintf("/books/_doc/%d?refresh=true", n), "")
			p = r.ask(200, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"1m","scroll_id":%q}`, p.Scroll))
		}
		if len(seen) != 25 {
			t.Errorf("%s: %d documents come", body, len(seen))
		}
		r.ask(200, "DELETE", "/_search/scroll", fmt.Sprintf(`{"scroll_id":%q}`, p.Scroll))
		r.ask(404, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll_id":%q}`, p.Scroll))
		r.ask(404, "DELETE", "/_search/scroll", fmt.Sprintf(`{"scroll_id":%q}`, p.Scroll))
	}
}

// TestScrollsCountAll: programs read until they have as many documents as the first page
// counts.
func TestScrollsCountAll(t *testing.T) {
	const documents = 10_001
	r := pageReader{t, newServer(t, Options{})}
	var lines strings.Builder
	for i := range documents {
		fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d}\n", i, i)
	}
	r.ask(200, "POST", "/books/_bulk?refresh=true", lines.String())
	for _, with := range []string{"", "&sort=n", "&sort=_doc", "&track_total_hits=true", "&q=n:>=0"} {
		p := r.ask(200, "POST", "/books/_search?scroll=1m&size=6000"+with, "")
		for i := range 3 {
			if p.Hits.Total.Value != documents {
				t.Errorf("%s: page %d counts %d", with, i, p.Hits.Total.Value)
			}
			p = r.ask(200, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"1m","scroll_id":%q}`, p.Scroll))
		}
	}
}

// TestScrollsShowTheOrderAskedFor: what makes pages go on is not shown.
func TestScrollsShowTheOrderAskedFor(t *testing.T) {
	r := newPageReader(t)
	for body, want := range map[string]string{`{}`: "", `{"sort":["n"]}`: "[0]"} {
		p := r.ask(200, "POST", "/books/_search?scroll=1m&size=1", body)
		if got := string(p.Hits.Hits[0].Sort); got != want {
			t.Errorf("%s: sort is %s, want %s", body, got, want)
		}
	}
	r.ask(400, "POST", "/books/_search?scroll=2d", "")
	r.ask(400, "POST", "/books/_search?scroll=1m&size=0", "")
	r.ask(400, "POST", "/_search/scroll", `{"scroll_id":"abc"}`)
	r.ask(400, "POST", "/_search/scroll", "")
	r.ask(200, "DELETE", "/_search/scroll/_all", "")
}

// TestLimitsThatAreSet: what the settings allow is open, or told, and no more. The server's words
// are in the conversation limits_set.
func TestLimitsThatAreSet(t *testing.T) {
	r := newPageReader(t)
	set := func(name, value string) {
		r.ask(200, "PUT", "/_cluster/settings", fmt.Sprintf(`{"transient":{%q:%s}}`, name, value))
	}
	set("search.max_open_scroll_context", "2")
	set("search.max_open_pit_context", "1")
	for i, status := range []int{200, 200, 429} {
		r.ask(status, "POST", "/books/_search?scroll=1m", "")
		r.ask(max(status, 200+229*min(i, 1)), "POST", "/books/_search/point_in_time?keep_alive=1m", "")
	}
	set("search.max_open_scroll_context", "null")
	p := r.ask(200, "POST", "/books/_search?scroll=1m", "")
	set("search.default_keep_alive", `"1m"`)
	set("search.max_keep_alive", `"2m"`)
	r.ask(400, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"3m","scroll_id":%q}`, p.Scroll))
	r.ask(200, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"2m","scroll_id":%q}`, p.Scroll))
	four := `{"size":0,"aggs":{"a":{"terms":{"field":"n"}}}}`
	for _, bound := range []struct {
		buckets string
		status  int
	}{{"3", 503}, {"4", 200}, {"0", 503}, {"null", 200}} {
		set("search.max_buckets", bound.buckets)
		r.ask(bound.status, "POST", "/books/_search", four)
	}
	r.ask(200, "POST", "/books/_search?scroll=1m", `{"slice":{"id":1,"max":1024}}`)
	r.ask(400, "POST", "/books/_search?scroll=1m", `{"slice":{"id":1,"max":1025}}`)
	r.ask(200, "PUT", "/books/_settings", `{"max_slices_per_scroll":1025,"max_slices_per_pit":2}`)
	r.ask(200, "POST", "/books/_search?scroll=1m", `{"slice":{"id":1,"max":1025}}`)
	r.ask(200, "DELETE", "/_search/point_in_time/_all", "")
	pit := r.ask(200, "POST", "/books/_search/point_in_time?keep_alive=1m", "").PIT
	r.ask(200, "POST", "/_search", fmt.Sprintf(`{"pit":{"id":%q},"slice":{"id":1,"max":2}}`, pit))
	r.ask(429, "POST", "/_search", fmt.Sprintf(`{"pit":{"id":%q},"slice":{"id":1,"max":3}}`, pit))
	set("point_in_time.max_keep_alive", `"2m"`)
	r.ask(400, "POST", "/_search", fmt.Sprintf(`{"pit":{"id":%q,"keep_alive":"3m"}}`, pit))
	r.ask(400, "POST", "/books/_search/point_in_time?keep_alive=3m", "")
}

// TestPointsInTimeStay as they were, until they are ended, or their index is.
func TestPointsInTimeStay(t *testing.T) {
	r := newPageReader(t)
	r.ask(400, "POST", "/books/_search/point_in_time", "")
	r.ask(400, "POST", "/books/_search/point_in_time?keep_alive=2d", "")
	pit := r.ask(200, "POST", "/books/_search/point_in_time?keep_alive=1m", "").PIT
	other := r.ask(200, "POST", "/books/_search/point_in_time?keep_alive=1m", "").PIT
	in := func(id string) string {
		return fmt.Sprintf(`{"pit":{"id":%q,"keep_alive":"1m"},"sort":["n","_id"]}`, id)
	}
	r.ask(201, "PUT", "/books/_doc/new?refresh=true", `{"n":1}`)
	if p := r.ask(200, "POST", "/_search", in(pit)); p.Hits.Total.Value != 25 || p.PIT != pit {
		t.Errorf("%d documents in point %s", p.Hits.Total.Value, p.PIT)
	}
	if p := r.ask(200, "POST", "/books/_search", ""); p.Hits.Total.Value != 26 {
		t.Errorf("%d documents now", p.Hits.Total.Value)
	}
	r.ask(400, "POST", "/books/_search", in(pit)) // names an index too
	r.ask(400, "POST", "/_search", in(""))
	r.ask(400, "POST", "/_search", in("abc"))
	r.ask(400, "POST", "/_search", `{"pit":{}}`)
	r.ask(404, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll_id":%q}`, pit))
	r.ask(200, "DELETE", "/_search/point_in_time", fmt.Sprintf(`{"pit_id":[%q]}`, pit))
	r.ask(404, "POST", "/_search", in(pit))
	r.ask(200, "DELETE", "/books", "") // which does not wait for the other
	r.ask(404, "POST", "/_search", in(other))
}

// TestTasksGoOn after their request was answered.
func TestTasksGoOn(t *testing.T) {
	r := newPageReader(t)
	task := r.ask(200, "POST", "/_reindex?wait_for_completion=false", `{"source":{"index":"books"},"dest":{"index":"copy"}}`).Task
	var told struct {
		Completed bool
		Response  struct{ Total, Created int }
	}
	q := httptest.NewRequest("GET", "/_tasks/"+task+"?wait_for_completion=true", nil)
	w := httptest.NewRecorder()
	r.s.ServeHTTP(w, q)
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil || !told.Completed || told.Response.Created != 25 || told.Response.Total != 25 {
		t.Errorf("%s %v", w.Body, err)
	}
	r.ask(200, "POST", "/_tasks/"+task+"/_cancel", "")
	r.ask(404, "GET", "/_tasks/"+task+"1", "")
	r.ask(200, "GET", "/_tasks", "")
	r.ask(404, "POST", "/_reindex?wait_for_completion=false", `{"source":{"index":"none"},"dest":{"index":"copy"}}`)
}
