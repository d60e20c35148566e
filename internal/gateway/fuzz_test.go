package gateway

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// asTheServer tells whether a 500 is one that OpenSearch gives too: it answers so to some
// bodies whose types it does not expect.
func asTheServer(answer []byte) bool {
	for _, reason := range []string{"input_coercion", "Can't get text on a ", "expected value but got [", "source_content_type", "dynamic type with content token", "cannot be cast to class", "Cannot invoke "} {
		if bytes.Contains(answer, []byte(reason)) {
			return true
		}
	}
	return false
}

// ask sends one request and checks what holds for every answer.
func ask(t *testing.T, s *Server, method, target, kind string, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", "/", bytes.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	r.Method, r.URL.Path, r.URL.RawQuery, r.RequestURI = method, path, query, target
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	isJSON := strings.HasPrefix(w.Header().Get("Content-Type"), "application/json")
	switch answer := w.Body.Bytes(); {
	case w.Code >= 500 && w.Code != 503 && !asTheServer(answer):
		t.Errorf("%s %s %q: %d %s", method, target, body, w.Code, answer)
	case isJSON && method != "HEAD" && !json.Valid(answer):
		t.Errorf("%s %s %q: no JSON: %q", method, target, body, answer)
	}
	if held := s.inFlight.Load(); held != 0 {
		t.Errorf("%d bytes are still counted as in flight", held)
	}
	return w
}

func FuzzBulk(f *testing.F) {
	for _, seed := range []string{
		"{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"a\":1}\n", "{\"delete\":{\"_index\":\"a\",\"_id\":\"1\"}}\n", "\n\r\n{\"create\":{}}\n{}\n",
		"{\"update\":{\"_id\":\"1\",\"_source\":true}}\n{\"doc\":{\"a\":2},\"upsert\":{}}\n", "{\"index\":{\"version\":5,\"version_type\":\"external\"}}\n{}",
	} {
		f.Add([]byte(seed))
	}
	s := newServer(f, Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := ask(t, s, "POST", "/fuzz/_bulk", "application/x-ndjson", body)
		if w.Code != 200 {
			return
		}
		var answer struct{ Items []json.RawMessage }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Items) > bytes.Count(body, []byte("\n")) {
			t.Errorf("%q: %d items, %v", body, len(answer.Items), err)
		}
	})
}

func FuzzBodies(f *testing.F) {
	f.Add("/fuzz/_mget", []byte(`{"docs":[{"_index":"fuzz","_id":"1","_source":["a"],"routing":"r"}],"ids":["1",2]}`))
	f.Add("/fuzz/_update/1", []byte(`{"doc":{"a":{"b":[1,{}]}},"upsert":{"x":1},"doc_as_upsert":"true","_source":{"includes":["a*"]},"if_seq_no":1}`))
	f.Add("/fuzz/_search", []byte(`{"query":{"ids":{"values":["1"]}},"sort":[{"_id":"desc"},"_doc"],"search_after":["a",1]}`))
	f.Add("/fuzz/_doc/1", []byte(`{"a":[1,"x",null,{"b":1.5e3}]}`))
	s := newServer(f, Options{})
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		for _, known := range []string{"/fuzz/_mget", "/fuzz/_update/1", "/fuzz/_search", "/fuzz/_count", "/fuzz/_doc/1"} {
			if path == known {
				ask(t, s, "POST", path, "application/json", body)
				return
			}
		}
	})
}

func FuzzTargets(f *testing.F) {
	f.Add("GET", "/fuzz/_doc/1?filter_path=-_source.a,**.b&pretty&_source=a*")
	f.Add("HEAD", "/fuzz/_doc/%2e%2e?routing=%zz")
	f.Add("GET", "/fuzz/_search?format=yaml&sort=_id:desc&size=3&expand_wildcards=all,none&timeout=1d")
	f.Add("DELETE", "/fuzz/_doc/1?version=5&version_type=external&if_seq_no=1")
	f.Add("PATCH", "//fuzz///_doc?=&&x")
	s := newServer(f, Options{})
	f.Fuzz(func(t *testing.T, method, target string) {
		if strings.HasPrefix(target, "/fuzz/_doc") || strings.HasPrefix(target, "/fuzz/_search") || strings.HasPrefix(target, "//") {
			ask(t, s, method, target, "application/json", nil)
		}
	})
}

func FuzzForms(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":"x\n"}],"d":{}},"e.f":null}`), "a.b,-**.c")
	f.Add([]byte(`[[],{},[{}]]`), "*")
	f.Fuzz(func(t *testing.T, value []byte, paths string) {
		valid := json.Valid(value)
		pretty := appendPretty(nil, value)
		var compact bytes.Buffer
		if valid {
			var want bytes.Buffer
			if json.Compact(&compact, pretty) != nil || json.Compact(&want, value) != nil || compact.String() != want.String() {
				t.Errorf("%q becomes %q", value, pretty)
			}
		}
		appendYAML(nil, value)
		filter, err := newPathFilter(splitList(paths))
		if err != nil || len(splitList(paths)) == 0 {
			return
		}
		if out, err := filter.append(nil, value); valid && (err != nil || !json.Valid(out)) {
			t.Errorf("%q of %q is %q, %v", paths, value, out, err)
		}
	})
}
