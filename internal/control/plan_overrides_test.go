package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// created makes a look at a plan of one index that is created by a body, into a cluster.
func created(t *testing.T, url, body string) *looking {
	t.Helper()
	client, err := cluster.New(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	plan := &migrate.Plan{Target: url}
	made := translate.Body{Name: "books", JSON: json.RawMessage(body)}
	return &looking{Preview: &Preview{Plan: plan, Indices: []PreviewIndex{{Index: "books", Target: "books", bodies: []translate.Body{made}}, {Index: "old", Target: "old", There: true}}},
		req: &MigrateRequest{Target: url}, side: &side{client: client}, done: &Check{}}
}

func (l *looking) problems() string {
	var all []string
	for _, p := range l.done.Problems {
		all = append(all, p.Message+" → "+p.Next)
	}
	return strings.Join(all, "; ")
}

// TestPlugins: a plugin that the target lacks is named with its index, its setting and commands; a simulation decides
// where there is one, and the list where there is none, or where nodes differ.
func TestPlugins(t *testing.T) {
	const none, both = `{"nodes":{"1":{"name":"n1","roles":["data"]},"2":{"name":"m","roles":["cluster_manager"]}}}`,
		`{"nodes":{"1":{"name":"n1","roles":["data"],"plugins":[{"name":"opensearch-custom-codecs"}]},"2":{"name":"n2","roles":["data_hot"]}}}`
	const zstd = `{"settings":{"index.codec":"zstd"}}`
	const refusal = `400 {"error":{"type":"illegal_argument_exception","reason":"no such thing"}}`
	const remedy = " → install it on each node (bin/opensearch-plugin install opensearch-custom-codecs) and start the nodes again, or do without: --set 'books:index.codec=best_compression'"
	for _, c := range []struct{ name, body, plugins, simulated, want string }{
		{"lacking and refused", zstd, none, refusal, "index books: settings.index.codec is zstd, which needs the plugin opensearch-custom-codecs; the target lacks it" + remedy},
		{"lacking and taken", zstd, none, `{}`, ""},
		{"lacking, and nobody simulates", zstd, none, `403 {"error":{"type":"security_exception","reason":"no"}}`, "index books: settings.index.codec is zstd, which needs the plugin opensearch-custom-codecs; the target lacks it" + remedy},
		{"on some nodes", zstd, both, `{}`, "index books: settings.index.codec is zstd, which needs the plugin opensearch-custom-codecs; these of its nodes lack it: n2" + remedy},
		{"a store of reshelve, which simulates no analysis", `{"settings":{"index.analysis.analyzer.a.type":"kuromoji"}}`, none, `{}`,
			"analyzer.a.type is kuromoji, which needs the plugin analysis-kuromoji; the target lacks it → do without: --set 'books:index.analysis.analyzer.a.type=standard'"},
		{"nothing is told", zstd, `403 {"error":{"type":"security_exception","reason":"no"}}`, `404 {"error":{"type":"index_not_found_exception","reason":"no"}}`, ""},
		{"refused for another reason", `{"settings":{}}`, none, refusal, "illegal_argument_exception: no such thing → override it with --set 'books:SETTING=VALUE'"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			greeting := answers["GET /"]
			if strings.HasPrefix(c.name, "a store of reshelve") {
				greeting = `{"cluster_name":"c","version":{"build_type":"reshelve","number":"2.19.0"}}`
			}
			answer := map[string]string{"/": greeting, "/_nodes/plugins": c.plugins, "/_index_template/_simulate": c.simulated}[r.URL.Path]
			status := http.StatusOK
			if strings.HasPrefix(answer, "4") {
				status, answer = int(answer[0]-'0')*100+int(answer[2]-'0'), answer[4:]
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(answer))
		}))
		l := created(t, server.URL, c.body)
		if _, err := lookPlugins(t.Context(), l); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := l.problems(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %s", c.name, got)
		}
		server.Close()
	}
}

// TestAValueThatTheTargetDoesNotTake is refused among the overrides, by its flag, its index and its setting, without the names that
// the simulation has made. OpenSearch 2.19 gives the second reason, and a store of reshelve those in which a template is named.
func TestAValueThatTheTargetDoesNotTake(t *testing.T) {
	for reason, want := range map[string]string{
		"invalid_index_template_exception: index_template [simulate_template_ie6fo1oxlmihldgmavj4_w] invalid, cause [Validation Failed: 1: failed to parse setting [index.refresh_interval] with value [abc] as a time value: unit is missing or unrecognized;2: and more;]": "--set b*:index.refresh_interval=abc: index books cannot be made with it: " +
			"failed to parse setting [index.refresh_interval] with value [abc] as a time value: unit is missing or unrecognized; and more → write a value that the target takes, or leave it out",
		"illegal_argument_exception: failed to parse setting [index.refresh_interval] with value [abc] as a time value: unit is missing or unrecognized": "--set b*:index.refresh_interval=abc: index books cannot be made with it: " +
			"failed to parse setting [index.refresh_interval] with value [abc] as a time value: unit is missing or unrecognized → write a value that the target takes, or leave it out",
		"invalid_index_template_exception: index_template [simulate_template_x] invalid, cause [Validation Failed: 1: unknown setting [index.other] please check;]":                                                                                                  "",
		"illegal_argument_exception: composable template [simulate_template_x] template after composition is invalid: invalid composite mappings for [simulate_template_x]: Failed to parse mapping [_doc]: No handler for type [join] declared on field [relation]": "",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch r.URL.Path {
			case "/":
				_, _ = w.Write([]byte(answers["GET /"]))
			case "/_nodes/plugins":
				_, _ = w.Write([]byte(`{"nodes":{"1":{"name":"n1","roles":["data"]}}}`))
			default:
				w.WriteHeader(http.StatusBadRequest)
				is, why, _ := strings.Cut(reason, ": ")
				_, _ = fmt.Fprintf(w, `{"error":{"type":%q,"reason":%q},"status":400}`, is, why)
			}
		}))
		l := created(t, server.URL, `{"settings":{"index.refresh_interval":"abc"}}`)
		l.Plan.Metadata.Set = []migrate.Setting{{Index: "b*", Name: "index.refresh_interval", Value: "abc"}}
		l.Checks = []Check{{Name: "overrides", Passed: true}}
		if _, err := lookPlugins(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		at := &l.Checks[0]
		if got := l.problems(); strings.Contains(got, "simulate") || (want == "") != at.Passed || (want == "") == (got == "") {
			t.Errorf("%q, overrides: %+v", got, at)
		}
		if len(at.Problems) > 0 && (at.Problems[0].Message+" → "+at.Problems[0].Next != want || len(l.Problems) != 1) {
			t.Errorf("%+v", at.Problems)
		}
		server.Close()
	}
}

// TestOverridesHaveAnEffect: what was asked for and changes nothing that is created is refused by name.
func TestOverridesHaveAnEffect(t *testing.T) {
	set := func(index, name string, value any) migrate.Setting {
		return migrate.Setting{Index: index, Name: name, Value: value}
	}
	for _, c := range []struct {
		set  []migrate.Setting
		want string
	}{
		{[]migrate.Setting{set("books", "index.codec", "lz4")}, ""},
		{[]migrate.Setting{set("*", "index.codec", "lz4")}, ""},
		{[]migrate.Setting{set("nope", "index.codec", "lz4")}, "--set nope:index.codec fits none of the indices that are created → name an index as it is called on the target; created are books"},
		{[]migrate.Setting{set("old", "index.codec", "lz4")}, "--set old:index.codec has no effect: old is there on the target already, and left as it is"},
		{[]migrate.Setting{set("books", "index.codec", "lz4"), set("*", "index.codec", "zlib")}, "--set books:index.codec has no effect: a later one replaces it for books"},
		{[]migrate.Setting{set("books", "index.foo", nil)}, "--set books:index.foo has no effect: books has no such setting"},
	} {
		l := created(t, "http://127.0.0.1:9", `{}`)
		l.Indices[0].bodies[0].Changes = []translate.Change{{Rule: migrate.RuleSet, Where: "settings.index.codec"}}
		l.Plan.Metadata.Set = c.set
		if _, err := lookOverrides(t.Context(), l); err != nil {
			t.Error(err)
		}
		if got := l.problems(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %s", c.set, got)
		}
	}
}

// TestLivePlugins asks a real OpenSearch, which has no plugins: what it lacks is known before anything is made, and
// asking leaves nothing behind.
func TestLivePlugins(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	for body, want := range map[string]string{
		`{"settings":{"index.codec":"zstd"}}`:                                          "index.codec is zstd, which needs the plugin opensearch-custom-codecs",
		`{"settings":{"index.codec":"best_compression","index.number_of_shards":"2"}}`: "",
		`{"settings":{"index.analysis.analyzer.a.type":"kuromoji"}}`:                   "analysis-kuromoji",
		`{"mappings":{"properties":{"a":{"type":"text","analyzer":"english"}}}}`:       "index books cannot be made", // of a module that this distribution lacks
		`{"mappings":{"properties":{"a":{"type":"murmur3"}}}}`:                         "mapper-murmur3",
		`{"mappings":{"_size":{"enabled":true}}}`:                                      "mapper-size",
		`{"settings":{"index.number_of_shards":"0"}}`:                                  "must be >= 1",
		`{"settings":{"index.nobody.knows":"0"}}`:                                      "unknown setting",
		`{"settings":{"index.refresh_interval":"abc"}}`:                                "illegal_argument_exception: failed to parse setting [index.refresh_interval] with value [abc] as a time value: unit is missing or unrecognized",
	} {
		l := created(t, server.URL, body)
		if _, err := lookPlugins(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if got := l.problems(); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %s", body, got)
		}
	}
	for _, path := range []string{"/_cat/indices", "/_cat/templates"} {
		if _, left, err := server.Do("GET", path, nil); err != nil || strings.TrimSpace(string(left)) != "[]" && len(left) > 0 {
			t.Errorf("%s: %s %v", path, left, err)
		}
	}
}
