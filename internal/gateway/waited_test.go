package gateway

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWritesThatWaitForCopies fail at once: there is one copy of each shard.
func TestWritesThatWaitForCopies(t *testing.T) {
	r := newPageReader(t)
	for _, wanted := range []struct {
		settings string
		status   int
	}{
		{`{"write.wait_for_active_shards":2}`, 503}, {`{"write.wait_for_active_shards":"all"}`, 503}, {`{"write.wait_for_active_shards":1}`, 200},
		{`{"write.wait_for_active_shards":0}`, 200}, {`{"write.wait_for_active_shards":"all","number_of_replicas":0}`, 200}, {`{"write.wait_for_active_shards":null}`, 200},
	} {
		r.ask(200, "PUT", "/books/_settings", wanted.settings)
		r.ask(wanted.status, "PUT", "/books/_doc/1", `{"n":1}`)
	}
}

// TestTheTimeoutOfAChangeByQuery is of its writes: no document is left out because the search took longer.
func TestTheTimeoutOfAChangeByQuery(t *testing.T) {
	r := newPageReader(t)
	q := httptest.NewRequest("POST", "/books/_update_by_query?timeout=1nanos", nil)
	w := httptest.NewRecorder()
	r.s.ServeHTTP(w, q)
	if !strings.Contains(w.Body.String(), `"total":25,"updated":25,`) {
		t.Error(w.Body)
	}
}

// TestARequestSaysItselfForHowManyCopiesItWaits, whatever the index says: each kind of write, by each name of the index.
func TestARequestSaysItselfForHowManyCopiesItWaits(t *testing.T) {
	r := newPageReader(t)
	r.ask(200, "PUT", "/books/_alias/shelf", "")
	r.ask(200, "PUT", "/copies", "")
	for _, tc := range []struct {
		settings, asked string
		goes            bool
	}{
		{`{"write.wait_for_active_shards":2}`, "", false}, {`{"write.wait_for_active_shards":2}`, "1", true}, {`{"write.wait_for_active_shards":2}`, "0", true},
		{`{"write.wait_for_active_shards":2}`, "all", false}, {`{"write.wait_for_active_shards":"all"}`, "1", true}, {`{"write.wait_for_active_shards":1}`, "2", false},
		{`{"write.wait_for_active_shards":null}`, "all", false}, {`{"write.wait_for_active_shards":null,"number_of_replicas":0}`, "all", true}, {`{"number_of_replicas":0}`, "2", false},
	} {
		r.ask(200, "PUT", "/books,copies/_settings", tc.settings)
		asked := "?timeout=1ms"
		if tc.asked != "" {
			asked += "&wait_for_active_shards=" + tc.asked
		}
		status := map[bool]int{true: 200, false: 503}[tc.goes]
		for _, index := range []string{"books", "shelf"} {
			r.ask(status, "PUT", "/"+index+"/_doc/1"+asked, `{"n":1}`)
			r.ask(status, "POST", "/"+index+"/_update/1"+asked, `{"doc":{"n":2}}`)
			r.ask(status, "POST", "/"+index+"/_update_by_query"+asked+"&refresh=true", `{"query":{"ids":{"values":["2"]}}}`)
			for _, path := range []string{"/" + index + "/_bulk", "/_bulk"} {
				w := httptest.NewRecorder()
				body := fmt.Sprintf("{\"index\":{\"_index\":%q,\"_id\":\"1\"}}\n{\"n\":3}\n", index)
				request := httptest.NewRequest("POST", path+asked, strings.NewReader(body))
				request.Header.Set("Content-Type", "application/x-ndjson")
				r.s.ServeHTTP(w, request)
				if w.Code != 200 || strings.Contains(w.Body.String(), `"status":503`) == tc.goes {
					t.Errorf("%s, %s, %s: %d %s", tc.settings, path, asked, w.Code, w.Body)
				}
			}
		}
		r.ask(status, "POST", "/_reindex"+asked, `{"source":{"index":"books","query":{"ids":{"values":["2"]}}},"dest":{"index":"copies"}}`)
	}
}
