package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatNoIdleServerTakes: 429 has a client try again, so an idle server never answers it. What
// would not fit by itself is 413 with the limit; what fits is done, and is 429 only while
// others have the room.
func TestWhatNoIdleServerTakes(t *testing.T) {
	const limit = 4 << 20
	s := newServer(t, Options{InFlightBytes: limit, BodyBytes: 16 << 20})
	text := func(n int) string { return `{"a":"` + strings.Repeat("x", n) + `"}` }
	lines := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	zipped := func(body string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(body))
		_ = w.Close()
		return b.String()
	}
	do := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", applicationJSON)
		if strings.HasPrefix(body, "\x1f\x8b") {
			r.Header.Set("Content-Encoding", "gzip")
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if held := s.inFlight.Load(); held != 0 && held != limit {
			t.Fatalf("%s %s: %d bytes stay in flight", method, path, held)
		}
		return w
	}
	for id := range 4 {
		if w := do("PUT", fmt.Sprintf("/a/_doc/%d?refresh=true", id), text(1200<<10)); w.Code != 201 {
			t.Fatal(w.Code, w.Body)
		}
	}
	for _, c := range []struct {
		name, method, path, body string
		never                    bool
	}{
		{"a document", "PUT", "/b/_doc/1", text(limit * 9 / 10), false},
		{"a document beyond", "PUT", "/b/_doc/1", text(limit * 6 / 5), true},
		{"a document that unpacks beyond", "PUT", "/b/_doc/1", zipped(text(limit * 6 / 5)), true},
		{"an update beyond", "POST", "/b/_update/1", `{"doc":` + text(limit*6/5) + `}`, true},
		{"a mapping beyond", "PUT", "/c", `{"mappings":{"_meta":` + text(limit*6/5) + `}}`, true},
		{"a bulk of one source beyond", "POST", "/b/_bulk", "{\"index\":{}}\n" + text(limit*6/5) + "\n", true},
		{"a bulk of deletes", "POST", "/b/_bulk", lines(8200, "{\"delete\":{\"_id\":\"%d\"}}\n"), false},
		{"a bulk of documents", "POST", "/b/_bulk", lines(8200, "{\"index\":{\"_id\":\"%d\"}}\n{}\n"), false},
		{"a bulk of mistakes", "POST", "/b/_bulk", lines(8200, "{\"index\":{\"_id\":\"%d\"}}\n{\n"), false},
		{"a bulk whose answer is beyond", "POST", "/b/_bulk", lines(40_000, "{\"delete\":{\"_id\":\"%d\"}}\n"), true},
		{"a bulk whose pretty answer is beyond", "POST", "/b/_bulk?pretty", lines(8200, "{\"delete\":{\"_id\":\"%d\"}}\n"), true},
		{"a bulk whose refusal is beyond", "POST", "/b/_bulk", strings.Repeat("{\"delete\":{}}\n", 80_000), true},
		{"documents", "POST", "/a/_mget", `{"ids":["0","1"]}`, false},
		{"documents beyond", "POST", "/a/_mget", `{"ids":["0","1","2","3"]}`, true},
		{"ids beyond", "POST", "/a/_mget", `{"ids":[` + strings.Repeat(`"x",`, 40_000) + `"x"]}`, true},
		{"hits", "POST", "/a/_search?size=2", "", false},
		{"hits beyond", "POST", "/a/_search", "", true},
		{"searches beyond", "POST", "/a/_msearch", strings.Repeat("{}\n{\"size\":1}\n", 4), true},
		{"buckets beyond", "POST", "/a/_search?size=0", `{"aggs":{` + strings.TrimSuffix(lines(600, `"x%d":{"terms":{"field":"b"}},`), ",") + `}}`, true},
	} {
		w := do(c.method, c.path, c.body)
		switch told := w.Body.String(); {
		case !c.never && w.Code/100 != 2:
			t.Errorf("%s, on an idle server: %d %.300s", c.name, w.Code, told)
		case c.never && (w.Code != 413 && !strings.Contains(told, `"status":413`) || !strings.Contains(told, fmt.Sprint(limit)) || w.Header().Get("Retry-After") != ""):
			t.Errorf("%s: %d %v %.300s, want 413 with the limit", c.name, w.Code, w.Header(), told)
		}
		if len(c.body) <= little {
			continue // has room among large ones
		}
		s.inFlight.Add(limit)
		busy := do(c.method, c.path, c.body)
		s.inFlight.Add(-limit)
		if !c.never && (busy.Code != 429 || busy.Header().Get("Retry-After") != "1") {
			t.Errorf("%s, on a busy server: %d %.300s", c.name, busy.Code, busy.Body)
		}
	}
}

// TestBulkInParts: a bulk of many parts is answered as one: item by item in their order, refused
// whole for a mistake in its last line, and shown when it asks for that.
func TestBulkInParts(t *testing.T) {
	s := newServer(t, Options{InFlightBytes: 4 << 20})
	if parts := 2000 / s.options.inPart(); parts < 2 {
		t.Fatalf("%d parts", parts)
	}
	do := func(path, body string) (code int, told string) {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Content-Type", applicationJSON)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":1}\n{\"update\":{\"_id\":\"%d\"}}\n{\"doc\":{\"m\":2}}\n{\"create\":{\"_id\":\"%d\"}}\n{}\n{\"index\":{\"_id\":\"\"}}\n{}\n", i, i, i)
	}
	code, told := do("/p/_bulk", body.String()+"{\"delete\":{\"_id\":\"0\"}}\n{\"what\":{}}\n")
	if code != 400 || !strings.Contains(told, "Malformed action/metadata line [4002]") {
		t.Errorf("a mistake in the last line: %d %.300s", code, told)
	}
	if code, told = do("/p/_count", ""); code != 404 {
		t.Errorf("something of it was applied: %d %s", code, told)
	}
	code, told = do("/p/_bulk?refresh=true", body.String())
	var answer struct {
		Errors bool
		Items  []map[string]struct {
			ID     string `json:"_id"`
			Status int
			Forced bool `json:"forced_refresh"`
		}
	}
	if err := json.Unmarshal([]byte(told), &answer); err != nil || code != 200 || !answer.Errors || len(answer.Items) != 2000 {
		t.Fatalf("%d, %d items, %v: %.300s", code, len(answer.Items), err, told)
	}
	for i, item := range answer.Items {
		action, status, id := []string{"index", "update", "create", "index"}[i%4], []int{201, 200, 409, 400}[i%4], fmt.Sprint(i/4)
		if i%4 == 3 {
			id = ""
		}
		if is, has := item[action]; !has || is.Status != status || is.ID != id || is.Forced != (status < 300) {
			t.Fatalf("item %d is %+v", i, item)
		}
	}
	if _, told = do("/p/_count", `{"query":{"term":{"m":2}}}`); !strings.Contains(told, `"count":500`) {
		t.Errorf("shown: %s", told)
	}
}
