package gateway_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
)

// served is a store that is served, with movements, in memory.
type served struct {
	t       *testing.T
	address string
}

func serveMovements(t *testing.T) served {
	t.Helper()
	return served{t, gatewaytest.Serve(t, memory.New(memory.Options{}))}
}

// ask sends a request, and gives the status, the header and the body of the answer.
func (s served) ask(method, path, body string) (int, http.Header, map[string]any) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.address+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(body, "origin:") {
		request.Header.Set("Origin", strings.TrimPrefix(body, "origin:"))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var answer map[string]any
	if strings.Contains(response.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(text, &answer); err != nil {
			s.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	} else {
		answer = map[string]any{"text": string(text)}
	}
	return response.StatusCode, response.Header, answer
}

// wait waits until the movement at path is in a state.
func (s served) wait(path, state string) map[string]any {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, _, m := s.ask("GET", path, "")
		if m["state"] == state {
			return m
		}
		if time.Now().After(end) || m["state"] == "held" && state != "held" {
			s.t.Fatalf("it is %v and not %s: %v %v", m["state"], state, m["cause"], m["reshaping"])
		}
	}
}

func repositoryOf(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "testdata", "repositories", name, "repo"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAMovementByHTTP: it is begun, works by itself, is paused, throttled and resumed, and ends;
// each refusal is a problem with what to do instead.
func TestAMovementByHTTP(t *testing.T) {
	s := serveMovements(t)
	body, _ := json.Marshal(map[string]any{"kind": "migrate", "from": repositoryOf(t, "opensearch-2.19.0-basic"), "indices": []string{"shelves"},
		"rename": map[string]string{"shelves": "racks"}, "limits": map[string]any{"documentsPerSecond": 1}, "keepWayBack": true, "why": "a test"})
	status, header, m := s.ask("POST", "/_reshelve/movements", string(body))
	at := header.Get("Location")
	if status != http.StatusAccepted || at != "/_reshelve/movements/"+m["id"].(string) {
		t.Fatalf("%d, Location %q: %v", status, at, m)
	}
	if status, _, p := s.ask("POST", "/_reshelve/movements", string(body)); status != http.StatusConflict || !strings.Contains(p["next"].(string), "GET /_reshelve/movements/ID") || !strings.Contains(p["detail"].(string), m["id"].(string)) {
		t.Errorf("a second one into the same index: %d %v", status, p)
	}
	if status, _, m = s.ask("POST", at+"/pause", `{"why":"lunch"}`); status != http.StatusOK || m["state"] != "paused" {
		t.Fatalf("%d %v", status, m)
	}
	if status, _, p := s.ask("POST", at+"/repair", ""); status != http.StatusConflict || p["next"] == nil || p["kind"] != "conflict" {
		t.Errorf("repair of what is paused: %d %v", status, p)
	}
	if status, _, m = s.ask("POST", at+"/throttle", `{"documentsPerSecond":0}`); status != http.StatusOK || m["rate"] == nil {
		t.Errorf("%d %v", status, m)
	}
	if status, _, m = s.ask("POST", at+"/resume", ""); status != http.StatusOK {
		t.Errorf("%d %v", status, m)
	}
	m = s.wait(at, "switched")
	if p := m["progress"].(map[string]any); p["acknowledged"] != 62.0 || p["failed"] != 0.0 {
		t.Errorf("%v", p)
	}
	_, _, text := s.ask("GET", "/_reshelve/metrics", "")
	for _, want := range []string{`reshelve_movements{kind="migrate",state="switched"} 1`, `reshelve_movement_documents{movement="` + m["id"].(string) + `",result="acknowledged"} 62`} {
		if !strings.Contains(text["text"].(string), want) {
			t.Errorf("the metrics lack %s:\n%s", want, text["text"])
		}
	}
	if status, _, m = s.ask("POST", at+"/abort", ""); status != http.StatusOK {
		t.Errorf("%d %v", status, m)
	}
	s.wait(at, "aborted")
	if status, _, _ := s.ask("GET", "/racks", ""); status != http.StatusNotFound {
		t.Errorf("of what was aborted an index is left: %d", status)
	}
	_, _, all := s.ask("GET", "/_reshelve/movements", "")
	if list := all["movements"].([]any); len(list) != 1 {
		t.Errorf("%v", list)
	}
}

// TestWhatMigrateTakesByHTTP: a request can say what the command line can: here a transformation,
// leases, how indices are made, and then only what has changed since.
func TestWhatMigrateTakesByHTTP(t *testing.T) {
	s := serveMovements(t)
	begin := func(more map[string]any) map[string]any {
		t.Helper()
		asked := map[string]any{"kind": "migrate", "from": repositoryOf(t, "opensearch-2.19.0-basic"), "indices": []string{"shelves"},
			"transform": `steps: [{set: {origin: '"moved"'}}]`}
		maps.Copy(asked, more)
		status, header, m := s.ask("POST", "/_reshelve/movements", string(mustJSON(t, asked)))
		if status != http.StatusAccepted {
			t.Fatalf("%d %v", status, m)
		}
		return s.wait(header.Get("Location"), "finished")
	}
	m := begin(map[string]any{"snapshot": "first", "metadata": map[string]any{"shards": 3, "noAliases": true}, "templates": map[string]any{"none": true},
		"leases": map[string]any{"initial": "20m", "maxAttempts": 7}})
	plan := m["plan"].(map[string]any)
	if policy := plan["policy"].(map[string]any); policy["initialLease"] != 20*60e9 || policy["heartbeat"] != 5e9 || policy["maxAttempts"] != 7.0 {
		t.Errorf("the leases are %v", policy)
	}
	if plan["templates"] != nil {
		t.Errorf("templates are made: %v", plan["templates"])
	}
	steps := m["progress"].(map[string]any)["steps"].([]any)
	if step := steps[0].(map[string]any); step["changed"] == 0.0 || step["changed"] != step["matched"] {
		t.Errorf("%v", step)
	}
	_, _, settings := s.ask("GET", "/shelves/_settings?flat_settings=true", "")
	if n := settings["shelves"].(map[string]any)["settings"].(map[string]any)["index.number_of_shards"]; n != "3" {
		t.Errorf("it has %v shards", n)
	}
	m = begin(map[string]any{"snapshot": "second", "delta": true})
	if since := m["plan"].(map[string]any)["indices"].([]any)[0].(map[string]any)["since"]; since == nil {
		t.Errorf("it is no delta: %v", m["plan"])
	}
}

// TestRefusalsOfMovements are problems, by their kinds.
func TestRefusalsOfMovements(t *testing.T) {
	s := serveMovements(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		kind, says         string
	}{
		{"GET", "/_reshelve/movements/nosuch", "", 404, "not-found", "movement nosuch: there is no such movement"},
		{"POST", "/_reshelve/movements/nosuch/pause", "", 404, "not-found", "movement nosuch: there is no such movement"},
		{"POST", "/_reshelve/movements/nosuch/dance", "", 404, "not-found", "dance"},
		{"DELETE", "/_reshelve/movements/nosuch", "", 404, "not-found", "DELETE"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate"}`, 400, "usage", "from"},
		{"POST", "/_reshelve/movements", `{"kind":"dance","from":"/x"}`, 400, "usage", "kind"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","fom":"/y"}`, 400, "usage", "fom"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","limits":{"hours":"late"}}`, 400, "usage", "late"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","leases":{"initial":"soon"}}`, 400, "usage", `leases.initial: "soon" is no duration`},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","leases":{"initial":"1s"}}`, 400, "usage", "leases: a heartbeat of 5s does not fit"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","metadata":{"types":"all"}}`, 400, "usage", "types"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","fromCluster":"http://y","snapshot":"z"}`, 400, "usage", "a snapshot is named, and one is to be taken"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","secret":"hush"}`, 400, "usage", "unexpected property (body.secret)"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/nosuch"}`, 404, "not-found", "nosuch"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","by":2}`, 400, "usage", "belongs to a split"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"i","by":2,"from":"/x"}`, 400, "usage", "belongs to a migration"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"i","by":2,"limits":{"hours":"22:00-06:00 UTC"}}`, 400, "usage", "no hours"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"i"}`, 400, "usage", "one of four ways"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"i","by":2,"into":2}`, 400, "usage", "one of four ways"},
		{"POST", "/_reshelve/movements", `{"kind":"merge","index":"i","by":2}`, 400, "usage", "a merge is of shards"},
		{"POST", "/_reshelve/movements", `{"kind":"split","by":2}`, 400, "usage", "no index is named"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"nosuch","by":2}`, 404, "not-found", "nosuch"},
		{"POST", "/_reshelve/movements/preview", `{"kind":"migrate","from":"/x"}`, 400, "refused", "not told before"},
		{"GET", "/_reshelve/placement/nosuch", "", 404, "not-found", "nosuch"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"i","by":2,"index":"j"}`, 400, "usage", "Duplicate field 'index'"},
		{"POST", "/_reshelve/movements", `{"kind":"split","index":"i","by":2,"INDEX":"j"}`, 400, "usage", "unexpected property (body.INDEX)"},
		{"POST", "/_reshelve/movements", `{"kind":"migrate","from":"/x","limits":{"hours":"","hours":"late"}}`, 400, "usage", "Duplicate field 'hours'"},
		{"POST", "/_reshelve/movements/preview", `{"kind":"split","index":"i","by":2,"by":3}`, 400, "usage", "Duplicate field 'by'"},
		{"POST", "/_reshelve/movements/nosuch/throttle", `{"bytesPerSecond":1,"bytesPerSecond":2}`, 400, "usage", "Duplicate field 'bytesPerSecond'"},
		{"POST", "/_reshelve/movements/nosuch/abort", `{"why":"x","why":"y"}`, 400, "usage", "Duplicate field 'why'"},
		{"POST", "/_reshelve/movements", `{"kind"`, 400, "usage", "JSON"},
		{"POST", "/_reshelve/movements/nosuch/throttle", `{"documentsPerSecond":-1}`, 400, "usage", "0"},
		{"POST", "/_reshelve/movements/nosuch/throttle", `{}`, 400, "usage", "no limit"},
		{"POST", "/_reshelve/movements/nosuch/abort", "origin:http://elsewhere.example", 403, "usage", "elsewhere.example"},
	} {
		status, header, p := s.ask(c.method, c.path, c.body)
		detail, _ := p["detail"].(string)
		if status != c.status || p["kind"] != c.kind || !strings.Contains(detail, c.says) || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %s: %d %s %v", c.method, c.path, c.body, status, header.Get("Content-Type"), p)
		}
	}
}

// TestRefusedPlansNameFields: what is wrong with an order by HTTP is said in its own words.
func TestRefusedPlansNameFields(t *testing.T) {
	s := serveMovements(t)
	if status, _, answer := s.ask("PUT", "/shelves/_doc/1", `{"there":true}`); status >= 300 {
		t.Fatal(status, answer)
	}
	if status, _, answer := s.ask("POST", "/shelves/_refresh", ""); status >= 300 {
		t.Fatal(status, answer)
	}
	basic, types := repositoryOf(t, "opensearch-2.19.0-basic"), repositoryOf(t, "elasticsearch-2.4.6-basic")
	for field, order := range map[string]map[string]any{
		"metadata.types": {"from": types},
		"intoExisting":   {"from": basic, "indices": []string{"shelves"}},
		"rename":         {"from": basic, "rename": map[string]string{"shelves": "Not A Name"}},
		"noVersions":     {"from": basic, "noVersions": true, "delta": true},
		"since":          {"from": basic, "delta": true},
	} {
		order["kind"] = "migrate"
		status, _, p := s.ask("POST", "/_reshelve/movements", string(mustJSON(t, order)))
		text := string(mustJSON(t, p))
		own := regexp.MustCompile(`reshelve movement ls --at \S+`).ReplaceAllString(text, "") // a command to paste
		if status < 400 || !strings.Contains(text, field) || strings.Contains(own, "--") {
			t.Errorf("%s: %d %s", field, status, text)
		}
	}
}

// TestABodyWithoutItsTypeIsToldWhatToSend: as curl -d sends it.
func TestABodyWithoutItsTypeIsToldWhatToSend(t *testing.T) {
	s := serveMovements(t)
	response, err := http.Post(s.address+"/_reshelve/movements", "application/x-www-form-urlencoded", strings.NewReader(`{"kind":"split"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(string(text), "Content-Type: application/json") {
		t.Errorf("%d %s %v", response.StatusCode, text, err)
	}
}

// deadlines counts how often one is set for reading.
type deadlines struct {
	http.ResponseWriter
	set *atomic.Int64
}

func (d deadlines) SetReadDeadline(time.Time) error {
	d.set.Add(1)
	return nil
}

// TestAnOrderMayTakeLong: an order without a body sets no deadline for reading. It would pass while
// the order is carried out, which ends the connection's context: the order is cut off, and whatever
// is asked by that connection from then on is answered with 503.
func TestAnOrderMayTakeLong(t *testing.T) {
	var set atomic.Int64
	s := served{t, gatewaytest.Serve(t, memory.New(memory.Options{}), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(deadlines{w, &set}, r) })
	})}
	if status, _, answer := s.ask("POST", "/_reshelve/movements/none/reverse", ""); status != http.StatusNotFound || set.Load() > 0 {
		t.Errorf("%d %v, and a deadline for reading was set %d times", status, answer, set.Load())
	}
}

// TestTheDescriptionIsTrue: docs/openapi.json is what the server gives, and each operation of
// it, and nothing else, is answered, with a status that it names. UPDATE=1 writes the file.
func TestTheDescriptionIsTrue(t *testing.T) {
	s := serveMovements(t)
	_, _, described := s.ask("GET", "/_reshelve/openapi.json", "")
	text, err := json.MarshalIndent(described, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const page = "../../docs/openapi.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != string(text)+"\n" {
		t.Errorf("%s is not what the server tells: UPDATE=1 go test ./internal/gateway -run Description", page)
	}
	if v := described["openapi"].(string); !strings.HasPrefix(v, "3.1") {
		t.Errorf("it is of version %s", v)
	}
	verbs := []string{"", "/pause", "/resume", "/throttle", "/verify", "/repair", "/redrive", "/finish", "/reverse", "/abort", "/set-aside"}
	paths := described["paths"].(map[string]any)
	var want []string
	for _, verb := range verbs {
		want = append(want, "/_reshelve/movements/{id}"+verb)
	}
	want = append(want, "/_reshelve/movements", "/_reshelve/movements/preview", "/_reshelve/placement/{index}",
		"/_reshelve/indices/{index}/check", "/_reshelve/indices/{index}/rebuild")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(paths)); !slices.Equal(got, want) {
		t.Errorf("it tells of %v\nwant %v", got, want)
	}
	for path, operations := range paths {
		for method, operation := range operations.(map[string]any) {
			status, _, answer := s.ask(strings.ToUpper(method), strings.NewReplacer("{id}", "nosuch", "{index}", "nosuch").Replace(path), map[bool]string{true: `{"why":"x"}`}[method == "post" && strings.Contains(path, "/movements")])
			if strings.Contains(string(mustJSON(t, answer)), "nothing is at") {
				t.Errorf("%s %s is not answered", method, path)
			}
			if responses := operation.(map[string]any)["responses"].(map[string]any); responses[strconv.Itoa(status)] == nil {
				t.Errorf("%s %s: %d is not told of", method, path, status)
			}
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
