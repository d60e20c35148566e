package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

const vnd = "application/vnd.elasticsearch+"

// mannered is a request with its headers, and what Elasticsearch 8.19.0 answers to it: status,
// Content-Type, and something in the body.
type mannered struct {
	method, path string
	accept, kind string
	body         string
	status       int
	told, says   string
	ours         bool // the answer is ours alone
}

const both = "A compatible version is required on both Content-Type and Accept headers if either one has requested a compatible version"

// manners are what clients of Elasticsearch may say about formats. Of versions the real server
// takes 8 and 7, we take 9 and 8.
var manners = []mannered{
	{"GET", "/elastic/_doc/1", "", "", "", 200, "application/json", `"found":true`, false},
	{"GET", "/elastic/_doc/1", "*/*", "", "", 200, "application/json", `"found":true`, false},
	{"GET", "/elastic/_doc/1", vnd + "json; compatible-with=8", "", "", 200, vnd + "json;compatible-with=8", `"found":true`, false},
	{"GET", "/elastic/_doc/none", vnd + "json; compatible-with=8", "", "", 404, vnd + "json;compatible-with=8", `"found":false`, false},
	{"GET", "/elastic/_doc/1", vnd + "json; compatible-with=9", "", "", 200, vnd + "json;compatible-with=9", `"found":true`, true},
	{"GET", "/elastic/_doc/1", vnd + "json", "", "", 200, vnd + "json", `"found":true`, false},
	{"GET", "/elastic/_doc/1", "Application/VND.Elasticsearch+JSON ;Compatible-With=8", "", "", 200, vnd + "json;compatible-with=8", `"found":true`, false},
	{"GET", "/elastic/_doc/1", vnd + `json;charset="utf-8" ; compatible-with="8"`, "", "", 200, vnd + "json;compatible-with=8", `"found":true`, true},
	{"GET", "/elastic/_doc/1", vnd + "x-ndjson;compatible-with=8", "", "", 200, vnd + "json;compatible-with=8", `"found":true`, false},
	{"GET", "/elastic/_doc/1", vnd + "yaml;compatible-with=8", "", "", 200, vnd + "yaml;compatible-with=8", "found: true", false},
	{"GET", "/elastic/_doc/1", "text/plain," + vnd + "json;compatible-with=8", "", "", 200, "application/json", `"found":true`, false},
	{"GET", "/elastic/_doc/1?format=json", vnd + "yaml;compatible-with=8", "", "", 200, "application/json", `"found":true`, true},
	{"GET", "/elastic/_doc/1", vnd + "cbor;compatible-with=8", "", "", 400, "application/json", "answers in [" + vnd + "cbor;compatible-with=8] are not supported", true},
	{"GET", "/elastic/_doc/1", vnd + "json;compatible-with=6", "", "", 400, "application/json", "but found 6. Accept=" + vnd + "json;compatible-with=6", false},
	{"GET", "/elastic/_doc/1", vnd + "json;compatible-with=7", "", "", 400, "application/json", "Accept version must be either version 9 or 8, but found 7", true},
	{"GET", "/elastic/_doc/1", vnd + "json;compatible-with=", "", "", 400, "application/json", "invalid parameters for header [" + vnd + "json;compatible-with=]", false},
	{"GET", "/elastic/_doc/1", vnd + "json;compatible-with=x", "", "", 400, "application/json", "media_type_header_exception", true}, // there the connection ends
	{"GET", "/elastic/_doc/1", vnd + "json;compatible-with=8;compatible-with=9", "", "", 400, "application/json", "media_type_header_exception", true},
	{"GET", "/_cat/indices/elastic", "text/plain," + vnd + "json;compatible-with=8", "", "", 200, "text/plain", " open elastic ", false},
	{"GET", "/_cat/indices/elastic", vnd + "json;compatible-with=8", "", "", 200, vnd + "json;compatible-with=8", `"index":"elastic"`, false},
	{"GET", "/_cat/indices/elastic?format=json", "text/plain," + vnd + "json;compatible-with=8", "", "", 200, "application/json", `"index":"elastic"`, false},
	{"POST", "/elastic/_search", vnd + "json;compatible-with=8", vnd + "json;compatible-with=8", "{}", 200, vnd + "json;compatible-with=8", `"value":1`, false},
	{"POST", "/elastic/_search", vnd + "json;compatible-with=8", vnd + "json;compatible-with=7", "", 200, vnd + "json;compatible-with=8", `"value":1`, false},
	{"POST", "/elastic/_search", vnd + "json;compatible-with=8", vnd + "yaml;compatible-with=8", "---\nsize: 0\n", 200, vnd + "json;compatible-with=8", `"value":1`, false},
	{"POST", "/elastic/_search", "", vnd + "json", "{}", 200, vnd + "json", `"value":1`, false},
	{"POST", "/elastic/_search", vnd + "json;compatible-with=8", "application/json", "{}", 400, "application/json", both + ". Accept=" + vnd + "json;compatible-with=8, Content-Type=application/json", false},
	{"POST", "/elastic/_search", "*/*", vnd + "json;compatible-with=8", "{}", 400, "application/json", both + ". Accept=null, Content-Type=" + vnd + "json;compatible-with=8", false},
	{"POST", "/elastic/_search", vnd + "json;compatible-with=8", vnd + "json;compatible-with=9", "{}", 400, "application/json", both + " and the compatible versions must match. Accept=", true},
	{"POST", "/elastic/_search", "", vnd + "json;compatible-with=6", "{}", 400, "application/json", "but found 6. Content-Type=", false},
	{"POST", "/elastic/_search", "", vnd + "nonsense", "{}", 406, "application/json", "is not supported", false},
	{"POST", "/elastic/_bulk", vnd + "json;compatible-with=8", vnd + "x-ndjson;compatible-with=8", "{\"delete\":{\"_id\":\"none\"}}\n", 200, vnd + "json;compatible-with=8", `"errors":false`, false},
	{"PUT", "/_bulk", vnd + "json;compatible-with=9", vnd + "x-ndjson; compatible-with=9", "{\"delete\":{\"_id\":\"none\",\"_index\":\"elastic\"}}\n", 200, vnd + "json;compatible-with=9", `"errors":false`, true},
	{"POST", "/elastic/_field_caps", vnd + "json;compatible-with=8", vnd + "json;compatible-with=8", `{"fields":"a"}`, 200, vnd + "json;compatible-with=8", `"fields":{"a":{"long"`, false},
	{"POST", "/elastic/_field_caps", "", "application/json", `{"fields":["x*","a"]}`, 200, "application/json", `"fields":{"a":{"long"`, false},
	{"POST", "/elastic/_field_caps", "", "application/json", `{"fields":["a"],"index_filter":{"match_all":{}}}`, 400, "application/json", "[index_filter] in the body of _field_caps is not supported", true},
	{"POST", "/elastic/_pit", "", "", "", 400, "application/json", "Validation Failed: 1: [keep_alive] is not specified;", false},
	{"POST", "/elastic/_pit?keep_alive=2d", "", "", "", 400, "application/json", "changing the [search.max_keep_alive] cluster level setting", false},
	{"POST", "/elastic/_pit?keep_alive=1m", "", "application/json", `{"x":1}`, 400, "application/json", "[open_point_in_time_request] unknown field [x]", false},
	{"POST", "/elastic/_pit?keep_alive=1m", "", "application/json", `{"index_filter":{"match_all":{}}}`, 400, "application/json", "[index_filter] is not supported", true},
	{"POST", "/elastic/_pit?keep_alive=1m&allow_partial_search_results=true", "", "", "", 400, "application/json", "[allow_partial_search_results]", true},
	{"POST", "/absent/_pit?keep_alive=1m", "", "", "", 404, "application/json", "no such index [absent]", false},
	{"POST", "/absent*/_pit?keep_alive=1m", "", "", "", 200, "application/json", `"_shards":{"total":0`, false},
	{"DELETE", "/_pit", "", "", "", 400, "application/json", "request body or source parameter is required", false},
	{"DELETE", "/_pit", "", "application/json", `{}`, 400, "application/json", "is not provided", false},
	{"DELETE", "/_pit", "", "application/json", `{"id":""}`, 400, "application/json", "is not provided", false},
	{"DELETE", "/_pit", "", "application/json", `{"id":["x"]}`, 400, "application/json", "the request must contain only [id", false},
	{"DELETE", "/_pit", "", "application/json", `{"pit_id":"x"}`, 400, "application/json", "Unknown parameter [pit_id]", false},
	{"DELETE", "/_pit", "", "application/json", `{"id":"abc"}`, 400, "application/json", "illegal_argument_exception", false},
}

// elastic sends what is asked, and reads the answer.
type elastic func(method, path, accept, kind, body string) (*http.Response, string)

func (ask elastic) json(t *testing.T, method, path, body string) (answer map[string]any) {
	t.Helper()
	response, text := ask(method, path, vnd+"json;compatible-with=8", vnd+"json;compatible-with=8", body)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || response.StatusCode >= 300 && method != "DELETE" {
		t.Fatalf("%s %s %s: %d %s, %v", method, path, body, response.StatusCode, text, err)
	}
	return answer
}

func elasticOurs(t *testing.T) elastic {
	s := newServer(t, Options{Compat: control.CompatElasticsearch})
	return func(method, path, accept, kind, body string) (*http.Response, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		return sendElastic(t, r, accept, kind, func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w.Result(), nil
		})
	}
}

func sendElastic(t *testing.T, r *http.Request, accept, kind string, do func(*http.Request) (*http.Response, error)) (*http.Response, string) {
	t.Helper()
	for name, value := range map[string]string{"Accept": accept, "Content-Type": kind} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// TestManners: Elasticsearch's clients are answered as they ask.
func TestManners(t *testing.T) { manner(t, elasticOurs(t), false) }

// TestLiveManners asks the real server the same.
func TestLiveManners(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	server, err := servers.Start(t.Context(), servers.Elasticsearch("8.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	ask := func(method, path, accept, kind, body string) (*http.Response, string) {
		r, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return sendElastic(t, r, accept, kind, http.DefaultClient.Do)
	}
	manner(t, ask, true)
	t.Run("ties", func(t *testing.T) { pageThroughTies(t, ask) })
}

func manner(t *testing.T, ask elastic, live bool) {
	ask("DELETE", "/elastic", "", "", "")
	if response, text := ask("PUT", "/elastic/_doc/1?refresh=true", "", "application/json", `{"a":1}`); response.StatusCode != 201 {
		t.Fatal(text)
	}
	for _, a := range manners {
		if live && a.ours {
			continue
		}
		response, text := ask(a.method, a.path, a.accept, a.kind, a.body)
		told, _, _ := strings.Cut(response.Header.Get("Content-Type"), "; charset=UTF-8")
		if response.StatusCode != a.status || told != a.told || !strings.Contains(text, a.says) || response.Header.Get("X-Elastic-Product") != "Elasticsearch" {
			t.Errorf("%s %s, Accept: %s, Content-Type: %s, %s: %d, %s, %s\nwant %d, %s, %s",
				a.method, a.path, a.accept, a.kind, a.body, response.StatusCode, told, text, a.status, a.told, a.says)
		}
	}
}

// TestPagesThroughTies: who goes on behind the sort values of the last hit, as clients do, sees
// each document once, though many have the same values.
func TestPagesThroughTies(t *testing.T) { pageThroughTies(t, elasticOurs(t)) }

func pageThroughTies(t *testing.T, ask elastic) {
	var bulk strings.Builder
	for i := range 60 {
		fmt.Fprintf(&bulk, "{\"index\":{\"_index\":\"ties-%d\"}}\n{\"same\":%d}\n", i%2, i%3)
	}
	for i := range 2 {
		ask("DELETE", fmt.Sprint("/ties-", i), "", "", "")
		ask.json(t, "PUT", fmt.Sprint("/ties-", i), `{"settings":{"number_of_shards":3}}`)
	}
	if response, text := ask("POST", "/_bulk?refresh=true", "", "application/x-ndjson", bulk.String()); response.StatusCode != 200 {
		t.Fatal(text)
	}
	for n, order := range []string{`["same"]`, `[{"same":"desc"}]`, `"same"`, `["_score"]`, `["_doc"]`, `["same","_shard_doc"]`, `[{"_shard_doc":"desc"}]`, `["same","_doc"]`} {
		pit := ask.json(t, "POST", "/ties-*/_pit?keep_alive=1m", "")["id"].(string)
		ask.json(t, "POST", "/ties-0/_doc?refresh=true", `{"same":1}`) // which the point does not show
		seen, after := map[string]bool{}, ""
		for range 20 {
			found := ask.json(t, "POST", "/_search", fmt.Sprintf(`{"size":7,"sort":%s,"pit":{"id":"%s","keep_alive":"1m"}%s}`, order, pit, after))
			hits := found["hits"].(map[string]any)["hits"].([]any)
			if len(hits) == 0 {
				break
			}
			for _, hit := range hits {
				id := hit.(map[string]any)["_id"].(string)
				if seen[id] {
					t.Errorf("%s: %s comes twice", order, id)
				}
				seen[id] = true
			}
			last, err := json.Marshal(hits[len(hits)-1].(map[string]any)["sort"])
			if err != nil {
				t.Fatal(err)
			}
			after = `,"search_after":` + string(last)
		}
		if want := 60 + n; len(seen) != want {
			t.Errorf("%s: %d documents, want %d", order, len(seen), want)
		}
		if freed := ask.json(t, "DELETE", "/_pit", `{"id":"`+pit+`"}`); freed["succeeded"] != true || freed["num_freed"].(float64) < 1 {
			t.Errorf("the point ends: %v", freed)
		}
		if freed := ask.json(t, "DELETE", "/_pit", `{"id":"`+pit+`"}`); freed["succeeded"] != false || freed["num_freed"] != 0.0 {
			t.Errorf("the point ends again: %v", freed)
		}
	}
}

// TestWithoutCompat: clients of OpenSearch are answered as before.
func TestWithoutCompat(t *testing.T) {
	s := newServer(t, Options{})
	for _, c := range []struct {
		method, path, kind, body string
		status                   int
		says                     string
	}{
		{"GET", "/", "", "", 200, `"distribution" : "opensearch"`},
		{"PUT", "/a/_doc/1", "application/json", "{}", 201, `"created"`},
		{"PUT", "/a/_doc/1", vnd + "json;compatible-with=8", "{}", 406, "is not supported"},
		{"GET", "/a/_doc/1", "", "", 200, `"found":true`},
		{"POST", "/a/_pit?keep_alive=1m", "", "", 400, "no handler found"},
		{"DELETE", "/_pit", "application/json", `{"id":"x"}`, 400, "Invalid index name [_pit]"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Accept", vnd+"json;compatible-with=9")
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if told := w.Header(); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || told.Get("X-Elastic-Product") != "" ||
			told.Get("Content-Type") != "application/json; charset=UTF-8" {
			t.Errorf("%s %s: %d %v %s, want %d and %s", c.method, c.path, w.Code, told, w.Body, c.status, c.says)
		}
	}
}
