package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestLimits(t *testing.T) {
	s := newServer(t, Options{BodyBytes: 1000, ItemBytes: 100, InFlightBytes: 3000, Depth: 5})
	big := `{"a":"` + strings.Repeat("x", 2000) + `"}`
	for _, c := range []struct {
		what, path, kind string
		body             []byte
		encoding         string
		unknownLength    bool
		status           int
		says             string
	}{
		{"a body that fits", "/a/_doc/1", "application/json", []byte(`{"a":1}`), "", false, 201, `"created"`},
		{"a body over the limit", "/a/_doc/1", "application/json", []byte(big), "", false, 413, "larger than the limit of [1000] bytes"},
		{"one that does not tell its length", "/a/_doc/1", "application/json", []byte(big), "", true, 413, "larger than the limit"},
		{"a compressed body", "/a/_doc/1", "application/json", gzipped(t, `{"a":2}`), "gzip", false, 200, `"updated"`},
		{"one that grows over the limit", "/a/_doc/1", "application/json", gzipped(t, big), "gzip", false, 413, "larger than the limit"},
		{"one that is cut off", "/a/_doc/1", "application/json", gzipped(t, `{"a":2}`)[:20], "gzip", false, 400, "reading the body"},
		{"one that is nothing", "/a/_doc/1", "application/json", []byte("x"), "gzip", false, 400, "request body is required"},
		{"nesting", "/a/_doc/2", "application/json", []byte(`{"n":{"b":{"c":{"d":{"e":1}}}}}`), "", false, 201, "created"},
		{"nesting beyond the limit", "/a/_doc/2", "application/json", []byte(`{"n":{"b":{"c":{"d":{"e":{}}}}}}`), "", false, 400, "depth (6) exceeds the maximum allowed (5)"},
		{"brackets in strings", "/a/_doc/2", "application/json", []byte(`{"m":{"b":{"c":{"d":{"e":"{[\"{[{[{["}}}}}`), "", false, 200, "updated"},
		{"a large item among others", "/a/_bulk", "application/x-ndjson",
			[]byte("{\"index\":{\"_id\":\"1\"}}\n{}\n{\"index\":{\"_id\":\"2\"}}\n{\"a\":\"" + strings.Repeat("x", 100) + "\"}\n{\"delete\":{\"_id\":\"1\"}}\n"), "",
			false, 200, `{"index":{"_index":"a","_id":"2","status":413,"error":{"type":"illegal_argument_exception","reason":"the source of the item has [108] bytes, the limit is [100]"}}},{"delete":{"_index":"a","_id":"1","_version"`},
		{"YAML", "/a/_doc/3", "application/yaml", []byte("---\na: 1\n"), "", false, 201, `result: "created"`},
		{"a pipeline for one item", "/a/_bulk", "application/x-ndjson", []byte("{\"index\":{\"_id\":\"1\",\"pipeline\":\"p\"}}\n{}\n"), "", false, 200, "pipeline with id [p] does not exist"},
		{"a script", "/a/_update/1", "application/json", []byte(`{"script":"x"}`), "", false, 400, "scripts are not supported"},
		{"a script in a query", "/a/_search", "application/json", []byte(`{"query":{"script":{"script":"x"}}}`), "", false, 400, "not supported by this version"},
	} {
		r := httptest.NewRequest("POST", c.path, bytes.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		if c.unknownLength {
			r.ContentLength = -1
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s, want %d and %s", c.what, w.Code, w.Body, c.status, c.says)
		}
		if held := s.inFlight.Load(); held != 0 {
			t.Fatalf("%s: %d bytes stay in flight", c.what, held)
		}
	}
}

// slow is a body that waits in the middle until it may go on.
type slow struct {
	io.Reader
	reached, goOn chan struct{}
}

func (s *slow) Read(p []byte) (int, error) {
	if s.reached != nil {
		close(s.reached)
		<-s.goOn
		s.reached = nil
	}
	return s.Reader.Read(p)
}

func TestTooManyBytesInFlight(t *testing.T) {
	s := newServer(t, Options{InFlightBytes: 1000})
	body := `{"a":"` + strings.Repeat("x", 700) + `"}`
	first := &slow{strings.NewReader(body), make(chan struct{}), make(chan struct{})}
	reached := first.reached
	done := make(chan int)
	go func() {
		r := httptest.NewRequest("PUT", "/a/_doc/1", first)
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = int64(len(body))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		done <- w.Code
	}()
	<-reached
	put := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("PUT", "/a/_doc/2", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := put(); w.Code != 429 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "rejected_execution_exception") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	close(first.goOn)
	if code := <-done; code != 201 {
		t.Errorf("the request that came first: %d", code)
	}
	if w := put(); w.Code != 201 {
		t.Errorf("when there is room again: %d %s", w.Code, w.Body)
	}
}

// TestOverTheWire: what only a real connection shows.
func TestOverTheWire(t *testing.T) {
	server := httptest.NewServer(newServer(t, Options{Version: "1.2.3"}))
	defer server.Close()
	do := func(method, path, body string, header ...string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer, string(text)
	}
	answer, text := do("GET", "/", "", "X-Opaque-Id", "me", "Accept-Encoding", "identity")
	for _, part := range []string{`"distribution" : "opensearch"`, `"number" : "2.19.0"`, `"build_hash" : "1.2.3"`, `"tagline" : "Reshelve`} {
		if !strings.Contains(text, part) {
			t.Errorf("GET / lacks %s: %s", part, text)
		}
	}
	if answer.Header.Get("X-Opaque-Id") != "me" {
		t.Errorf("%v", answer.Header)
	}
	if answer, text := do("HEAD", "/", ""); answer.StatusCode != 200 || text != "" || answer.ContentLength == 0 {
		t.Errorf("HEAD /: %v %q", answer, text)
	}
	long := `{"a":"` + strings.Repeat("long ", 5000) + `"}`
	do("PUT", "/a/_doc/1", long, "Content-Type", "application/json")
	answer, text = do("GET", "/a/_source/1", "", "Accept-Encoding", "gzip")
	unzip, err := gzip.NewReader(strings.NewReader(text))
	if err != nil || answer.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal(err, answer.Header)
	}
	if plain, _ := io.ReadAll(unzip); string(plain) != long {
		t.Errorf("%d bytes come back of %d", len(plain), len(long))
	}
	if answer, text := do("GET", "/a/_source/1", "", "Accept-Encoding", "identity"); text != long || answer.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v", answer.Header)
	}
	if answer, _ := do("HEAD", "/a/_source/1", "", "Accept-Encoding", "identity"); answer.ContentLength != int64(len(long)) {
		t.Errorf("HEAD tells %d bytes of %d", answer.ContentLength, len(long))
	}
}
