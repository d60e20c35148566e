package gateway

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
)

// everyRoute are those for the clients of both products.
func everyRoute() []route { return slices.Concat(allRoutes(), elasticRoutes) }

// TestParametersHaveTheFateThatIsDocumented: what is known somewhere and read nowhere is in the
// table of docs/settings.md with a reason, and the table has nothing that no endpoint knows.
func TestParametersHaveTheFateThatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Parameters of URLs\n")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\| (refused|kept) \\|").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([a-z].*?)`").FindAllStringSubmatch(row[1], -1) {
			name, _, _ := strings.Cut(name[1], "=")
			documented[name] = true
		}
	}
	var read strings.Builder
	for _, pattern := range []string{"*.go", "../index/query/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			} else if !strings.HasSuffix(file, "_test.go") {
				read.Write(text)
			}
		}
	}
	known := slices.Clone(commonParams)
	for _, r := range everyRoute() {
		known = append(known, strings.Fields(r.params)...)
	}
	slices.Sort(known)
	for _, name := range slices.Compact(known) {
		if !documented[name] && !strings.Contains(read.String(), `"`+name+`"`) {
			t.Errorf("%s is taken, read nowhere, and in no table", name)
		}
	}
	for name := range documented {
		if !slices.Contains(known, name) {
			t.Errorf("%s is documented, and no endpoint knows it", name)
		}
	}
}

// refusedParam is a parameter that docs/settings.md calls refused: a value, if there is only one, and the endpoints that it
// is refused by, if not by all that know it.
type refusedParam struct{ name, value, of string }

func refusedParamsOf(t *testing.T) (all []refusedParam) {
	t.Helper()
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Parameters of URLs\n")
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\| refused \\|").FindAllStringSubmatch(table, -1) {
		for part := range strings.SplitSeq(row[1], ", ") {
			name, of, _ := strings.Cut(part, " of ")
			name, value, _ := strings.Cut(strings.Trim(name, "`"), "=")
			for by := range strings.SplitSeq(of, " and ") {
				all = append(all, refusedParam{name, value, strings.Trim(by, "`")})
			}
		}
	}
	return all
}

// by reports whether an endpoint is one of those that the refusedParam is of.
func (r refusedParam) by(at route) bool {
	if !slices.Contains(strings.Fields(at.params), r.name) {
		return false
	}
	if r.of == "changes by query" {
		return strings.Contains(at.pattern, "_by_query") || at.pattern == "/_reindex"
	}
	return strings.Contains(at.pattern+"/", "/"+r.of+"/") || r.of == ""
}

// TestRefusedParametersAreRefused by name, by each endpoint that knows them, with each of its methods.
func TestRefusedParametersAreRefused(t *testing.T) {
	values := map[string]string{"pipeline": "p", "search_pipeline": "p", "stats": "s", "suggest_field": "n", "suggest_mode": "always", "suggest_size": "1",
		"suggest_text": "t", "terminate_after": "1", "min_score": "1", "explain": "true", "requests_per_second": "5", "search_timeout": "1s"}
	bodies := map[string]string{"_bulk": "{\"index\":{\"_index\":\"books\"}}\n{\"n\":1}\n", "_doc": `{"n":1}`, "_create": `{"n":1}`,
		"_reindex": `{"source":{"index":"books"},"dest":{"index":"copies"}}`, "_delete_by_query": `{"query":{"match_none":{}}}`}
	s := newServer(t, Options{Compat: control.CompatElasticsearch}) // which knows the endpoints of both
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		q := httptest.NewRequest(method, path, strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, q)
		return w
	}
	for n := range 3 {
		if w := ask("PUT", fmt.Sprintf("/books/_doc/%d?refresh=true", n), `{"n":1}`); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
	for _, r := range refusedParamsOf(t) {
		value := cmp.Or(r.value, values[r.name])
		if value == "" {
			t.Errorf("%s is documented as refused, and this test has no value for it", r.name)
		}
		asked := 0
		for _, at := range everyRoute() {
			if !r.by(at) {
				continue
			}
			path := strings.NewReplacer("{index}", "books", "{id}", "x", "{metric}", "indices", "{index_metric}", "docs").Replace(at.pattern)
			body := ""
			for step := range strings.SplitSeq(path, "/") {
				body += bodies[step]
			}
			for method := range strings.FieldsSeq(at.methods) {
				asked++
				w := ask(method, path+"?"+r.name+"="+value, body)
				refused := w.Code == 400 || strings.Contains(w.Body.String(), `"status":400`) // of an item
				if !refused || !strings.Contains(w.Body.String(), r.name) {
					t.Errorf("%s %s?%s=%s: %d %s", method, path, r.name, value, w.Code, w.Body)
				}
				if plain := ask(method, path, body); plain.Code >= 400 && plain.Code != 409 || strings.Contains(plain.Body.String(), `"status":400`) {
					t.Errorf("without %s: %s %s: %d %s", r.name, method, path, plain.Code, plain.Body)
				}
			}
		}
		if asked == 0 {
			t.Errorf("%s is documented as refused, and no endpoint of %q knows it", r.name, r.of)
		}
	}
}

// clusterEffects are the settings of the cluster, each with a request whose answer it changes.
var clusterEffects = map[string]struct {
	before             []string // requests, METHOD PATH BODY
	method, path, body string
	unset, set         string // what the answer has
	value              string // as JSON
}{
	"action.auto_create_index":         {nil, "PUT", "/made-%d/_doc/1", `{}`, `"result":"created"`, `[action.auto_create_index] is [false]`, `"false"`},
	"action.destructive_requires_name": {nil, "DELETE", "/none-*", ``, `"acknowledged":true`, `Wildcard expressions or all indices are not allowed`, `true`},
	"cluster.max_shards_per_node":      {nil, "PUT", "/more-%d", ``, `"acknowledged":true`, `maximum shards open`, `6`},
	"search.max_buckets":               {nil, "POST", "/books/_search", `{"aggs":{"a":{"terms":{"field":"n"}}}}`, `"buckets":[`, `too_many_buckets_exception`, `2`},
	"search.max_keep_alive":            {nil, "POST", "/books/_search?scroll=3h", ``, `"_scroll_id"`, `[search.max_keep_alive]`, `"2h"`},
	"point_in_time.max_keep_alive":     {nil, "POST", "/books/_search/point_in_time?keep_alive=3h", ``, `"pit_id"`, `[point_in_time.max_keep_alive]`, `"2h"`},
	"search.default_keep_alive": {nil, "PUT", "/_cluster/settings", `{"transient":{"search.max_keep_alive":"2m"}}`,
		`Default keep alive setting for request [search.default_keep_alive] should be smaller`, `"acknowledged":true`, `"1m"`},
	"search.max_open_scroll_context": {[]string{"POST /books/_search?scroll=1m "}, "POST", "/books/_search?scroll=1m", ``, `"_scroll_id"`, `[search.max_open_scroll_context]`, `1`},
	"search.max_open_pit_context": {[]string{"POST /books/_search/point_in_time?keep_alive=1m "}, "POST", "/books/_search/point_in_time?keep_alive=1m", ``,
		`"pit_id"`, `[search.max_open_pit_context]`, `1`},
	"search.default_search_timeout": {nil, "POST", "/books/_search", `{}`, `"timed_out":false`, `"timed_out":true`, `"1nanos"`},
}

// TestClusterSettingsHaveTheEffectThatIsDocumented: each is set, and looked at.
func TestClusterSettingsHaveTheEffectThatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Settings of the cluster\n")
	table, _, _ = strings.Cut(table, "\n## ")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\| effect \\|").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`(.*?)`").FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = true
		}
	}
	for name := range clusterEffects {
		if !documented[name] {
			t.Errorf("%s is not documented to have an effect", name)
		}
	}
	for name := range documented {
		e, known := clusterEffects[name]
		if !known {
			t.Errorf("%s is documented to have an effect, and no test looks for it", name)
			continue
		}
		r := newPageReader(t)
		ask := func(method, path, body string) string {
			q := httptest.NewRequest(method, path, strings.NewReader(body))
			q.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			r.s.ServeHTTP(w, q)
			return w.Body.String()
		}
		for _, request := range e.before {
			parts := strings.SplitN(request, " ", 3)
			ask(parts[0], parts[1], parts[2])
		}
		numbered := func(n int) string { return strings.Replace(e.path, "%d", fmt.Sprint(n), 1) }
		if said := ask(e.method, numbered(1), e.body); !strings.Contains(said, e.unset) || strings.Contains(said, e.set) {
			t.Errorf("%s is not set: %s", name, said)
		}
		r.ask(200, "PUT", "/_cluster/settings", fmt.Sprintf(`{"persistent":{%q:%s}}`, name, e.value))
		if said := ask(e.method, numbered(2), e.body); !strings.Contains(said, e.set) || strings.Contains(said, e.unset) {
			t.Errorf("%s is set: %s", name, said)
		}
	}
}
