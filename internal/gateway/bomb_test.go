package gateway

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// allocated is how many bytes a function allocates, whatever it gives back.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyPatternsStayFew: of a filter with many ** no more paths go on than it has parts,
// however deep the answer is.
func TestManyPatternsStayFew(t *testing.T) {
	for _, text := range []string{strings.Repeat("**.a.", 12) + "x", strings.Repeat("**.*.", 12) + "x", strings.Repeat("**.", 40) + "x"} {
		filter, err := newPathFilter([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		paths, parts := filter.includes, len(filter.includes[0])
		for depth := range 30 {
			if paths, _ = step(paths, "a"); len(paths) > parts {
				t.Fatalf("%s: %d paths go on at depth %d, it has %d parts", text, len(paths), depth, parts)
			}
		}
		if _, matched := step(paths, "x"); !matched {
			t.Errorf("%s: nothing matches at the end", text)
		}
	}
}

// TestNothingPassesAFilterUnread: an answer that is nested deeper than the filter reads is
// refused, and not told whole.
func TestNothingPassesAFilterUnread(t *testing.T) {
	const deep = 20_000
	answer := []byte(`{"secret":1,"a":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}`)
	for _, text := range []string{"b", "-secret", "a"} {
		filter, err := newPathFilter([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := filter.append([]byte("before"), answer); err == nil || string(out) != "before" {
			t.Errorf("filter_path=%s: %.60q, %v", text, out, err)
		}
	}
}

// TestManyProblemsAreToldOnce: what is wrong with every item of a large bulk is put
// together in one go.
func TestManyProblemsAreToldOnce(t *testing.T) {
	const many = 20_000
	var wrong problems
	for range many {
		wrong.add("id is missing")
	}
	var err error
	bytes := allocated(func() { err = wrong.err() })
	if want := fmt.Sprintf("%d: id is missing;", many); !strings.HasSuffix(err.Error(), want) {
		t.Errorf("it ends with %q", err.Error()[len(err.Error())-30:])
	}
	if bytes > 50<<20 {
		t.Errorf("%d bytes for %d problems", bytes, many)
	}
}

// TestAnswersAreHeldToo: a small request cannot ask for more than the limit of bytes in
// flight, and gives back what it had.
func TestAnswersAreHeldToo(t *testing.T) {
	s := newServer(t, Options{InFlightBytes: 4 << 20})
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", "/a/_doc/1?refresh=true", `{"a":"` + strings.Repeat("x", 900<<10) + `"}`, 201, "created"},
		{"PUT", "/a/_doc/2?refresh=true", `{"a":"` + strings.Repeat("x", 900<<10) + `"}`, 201, "created"},
		{"PUT", "/a/_doc/3?refresh=true", `{"a":"` + strings.Repeat("x", 3<<20) + `"}`, 201, "created"},
		{"GET", "/a/_doc/3", "", 200, `"found":true`},
		{"POST", "/a/_mget", `{"ids":["1","1","1"]}`, 200, `"found":true`},
		{"POST", "/a/_mget", `{"ids":["1","1","1","1","1"]}`, 413, "circuit_breaking_exception"},
		{"POST", "/a/_mget?_source=false", `{"ids":["1","1","1","1","1"]}`, 200, `"found":true`},
		{"POST", "/a/_search?size=2", `{"sort":["_id"]}`, 200, `"total"`},
		{"POST", "/a/_search", "", 413, "circuit_breaking_exception"},
		{"POST", "/a/_search?_source=false", "", 200, `"total"`},
		{"POST", "/a/_bulk", strings.Repeat("{\"delete\":{\"_id\":\"9\"}}\n", 1000), 200, `"errors":false`},
		{"POST", "/a/_bulk", strings.Repeat("{\"delete\":{\"_id\":\"9\"}}\n", 40_000), 413, "--max-in-flight"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || c.status == 429 && w.Header().Get("Retry-After") != "1" {
			t.Errorf("%s %s: %d %.300s, want %d and %s", c.method, c.path, w.Code, w.Body, c.status, c.says)
		}
		if held := s.inFlight.Load(); held != 0 {
			t.Fatalf("%s %s: %d bytes stay in flight", c.method, c.path, held)
		}
	}
}
