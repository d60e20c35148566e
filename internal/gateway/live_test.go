package gateway

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// liveServer is a real OpenSearch 2.19.0: that of RESHELVE_LIVE_AT, or one that the
// test starts.
func liveServer(t *testing.T) string {
	t.Helper()
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	if at := os.Getenv("RESHELVE_LIVE_AT"); at != "" {
		return at
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return server.URL
}

// sent is one generated request.
type sent struct{ method, path, kind, body string }

func (s sent) String() string { return fmt.Sprintf("%s %s %s", s.method, s.path, s.body) }

// TestLive asks one real server. One that runs already is not emptied, as the
// conversations about administration need it.
func TestLive(t *testing.T) {
	at := liveServer(t)
	if os.Getenv("RESHELVE_LIVE_AT") == "" {
		t.Run("administration", func(t *testing.T) { liveAdministration(t, at) })
	}
	t.Run("generated", func(t *testing.T) { liveGenerated(t, at) })
}

// liveGenerated sends generated conversations about a few documents to a real
// server and to this one: status, result, versions and error types must be equal.
func liveGenerated(tt *testing.T, at string) {
	if flag.Lookup("rapid.seed").Value.String() != "0" {
		// So many conversations of the seed that CI uses hold no bulk in which two items give a
		// new field two types: there it is meant that another item may get its error.
		_ = flag.Set("rapid.checks", "60")
	}
	round := 0
	rapid.Check(tt, func(t *rapid.T) {
		round++
		index := fmt.Sprintf("gwr-%d-%d", os.Getpid(), round)
		ours := newServer(tt, Options{})
		defer func() { askReal(t, at, sent{"DELETE", "/" + index + "?ignore_unavailable=true", "", ""}).Body.Close() }()
		create := sent{"PUT", "/" + index, "application/json", `{"settings":{"number_of_replicas":0,"refresh_interval":"-1"}}`}
		askReal(t, at, create).Body.Close()
		askOurs(ours, create)
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			s := drawStep(t, index)
			// The server refreshes by itself, too: by the clock, and where a write follows one
			// without an id.
			if strings.HasSuffix(s.path, "/_count") || strings.Contains(s.path, "realtime=false") {
				refresh := sent{"POST", "/" + index + "/_refresh", "", ""}
				askReal(t, at, refresh).Body.Close()
				askOurs(ours, refresh)
			}
			want, got := summary(askReal(t, at, s)), summary(askOurs(ours, s))
			if want != got {
				t.Fatalf("step %d: %v\nOpenSearch: %s\nhere:       %s", i, s, want, got)
			}
		}
	})
}

func askReal(t *rapid.T, at string, s sent) *http.Response {
	r, err := http.NewRequest(s.method, at+s.path, strings.NewReader(s.body)) //nolint:noctx // rapid's T has no context
	if err != nil {
		t.Fatal(err)
	}
	if s.kind != "" {
		r.Header.Set("Content-Type", s.kind)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func askOurs(server *Server, s sent) *http.Response {
	r := httptest.NewRequest(s.method, s.path, strings.NewReader(s.body))
	if s.kind != "" {
		r.Header.Set("Content-Type", s.kind)
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w.Result()
}

// summary is an answer without what may differ: times, made ids, UUIDs, the words
// of reasons.
func summary(r *http.Response) string {
	body, _ := io.ReadAll(r.Body)
	r.Body.Close()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&value) == nil {
		forget(value)
		body, _ = json.Marshal(value)
	}
	text := made.ReplaceAllString(string(body), `"_id":"…"`)
	return fmt.Sprintf("%d %s", r.StatusCode, text)
}

var made = regexp.MustCompile(`"_id":"[A-Za-z0-9_-]{20}"`)

func forget(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{"took", "index_uuid", "reason", "caused_by", "root_cause"} {
			delete(v, name)
		}
		for _, member := range v {
			forget(member)
		}
	case []any:
		for _, element := range v {
			forget(element)
		}
	}
}

var (
	ids     = rapid.SampledFrom([]string{"1", "2", "é", "a%2Fb", "+", "%20", "x%22y"})
	texts   = rapid.SampledFrom([]string{"1", "2", "é", "a/b", "+", " ", `x\"y`})
	sources = rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"a":2,"b":{"c":[1,2]}}`, `{"s":"x"}`, `{"s":"y","b":{"d":null}}`, `{"a":"no number"}`,
		`[1]`, `{"a":`, `{"a":1.5}`, ` {"a" : 3} `, `{"a":1,"a":2}`, `{"k.l":1}`, `{"b":{}}`, `{"s":["x","y"]}`, `{"d":"2026-01-02"}`,
		`{"d":"no date"}`, `{"t":true}`, `{"t":"x"}`, `{"b":1}`, `{"a":null,"s":null}`, `{"a":99999999999999999999}`, `{"s":{"x":1}}`, `{"":1}`, `{"a":"7"}`})
	metadata = rapid.SampledFrom([]string{"", "", "", "", "", `,"version":3,"version_type":"external"`, `,"version":"2","version_type":"external_gte"`,
		`,"if_seq_no":1,"if_primary_term":1`, `,"op_type":"create"`, `,"require_alias":true`, `,"retry_on_conflict":2`, `,"_source":"a"`, `,"version":1`, `,"zz":1`})
	numbers = rapid.SampledFrom([]string{"0", "1", "2", "3", "5", "-1", "x", ""})
)

// drawParams draws some of the parameters.
func drawParams(t *rapid.T, names ...string) string {
	var out []string
	for _, name := range names {
		if rapid.IntRange(0, 5).Draw(t, name) > 0 {
			continue
		}
		var value string
		switch name {
		case "refresh":
			value = rapid.SampledFrom([]string{"true", "false", "", "x"}).Draw(t, "refresh")
		case "op_type":
			value = rapid.SampledFrom([]string{"index", "create", "x"}).Draw(t, "op_type")
		case "version":
			kind := rapid.SampledFrom([]string{"external", "external_gte", "internal", "x"}).Draw(t, "version_type")
			out = append(out, "version_type="+kind)
			value = numbers.Draw(t, "version")
		case "if_seq_no":
			out = append(out, "if_primary_term="+rapid.SampledFrom([]string{"1", "1", "1", "0", "2"}).Draw(t, "term"))
			value = numbers.Draw(t, "seq_no")
		case "_source":
			value = rapid.SampledFrom([]string{"true", "false", "a", "b.*", "b.c,s", "*"}).Draw(t, "_source")
		case "_source_excludes":
			value = rapid.SampledFrom([]string{"a", "b.c", "*"}).Draw(t, "_source_excludes")
		default:
			value = rapid.SampledFrom([]string{"true", "false", "", "x"}).Draw(t, name)
		}
		out = append(out, name+"="+value)
	}
	if len(out) == 0 {
		return ""
	}
	return "?" + strings.Join(out, "&")
}

const applicationJSON = "application/json"

func drawStep(t *rapid.T, index string) sent {
	id, at := ids.Draw(t, "id"), "/"+index
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1:
		return sent{"PUT", at + "/_doc/" + id + drawParams(t, "refresh", "op_type", "version", "if_seq_no", "require_alias"), applicationJSON, sources.Draw(t, "source")}
	case 2:
		return sent{"POST", at + "/_create/" + id + drawParams(t, "refresh", "version"), applicationJSON, sources.Draw(t, "source")}
	case 3:
		return sent{"DELETE", at + "/_doc/" + id + drawParams(t, "refresh", "version", "if_seq_no"), "", ""}
	case 4:
		return sent{"GET", at + "/_doc/" + id + drawParams(t, "version", "_source", "_source_excludes", "realtime"), "", ""}
	case 5:
		return sent{"GET", at + "/_source/" + id + drawParams(t, "_source", "_source_excludes"), "", ""}
	case 6:
		return sent{"POST", at + "/_update/" + id + drawParams(t, "refresh", "if_seq_no", "_source", "doc_as_upsert"), applicationJSON, drawUpdate(t)}
	case 7:
		return sent{"POST", at + "/_bulk" + drawParams(t, "refresh", "_source"), "application/x-ndjson", drawBulk(t, index)}
	case 8:
		return sent{"POST", at + "/_mget" + drawParams(t, "_source"), applicationJSON, `{"ids":["` + texts.Draw(t, "one") + `","` + texts.Draw(t, "other") + `"]}`}
	}
	return sent{"POST", at + "/_count", applicationJSON, `{"query":{"ids":{"values":["1","+","none"]}}}`}
}

func drawUpdate(t *rapid.T) string {
	parts := []string{}
	if rapid.IntRange(0, 9).Draw(t, "has doc") > 0 {
		parts = append(parts, `"doc":`+sources.Draw(t, "doc"))
	}
	for _, part := range []string{`"doc_as_upsert":true`, `"detect_noop":false`, `"upsert":{"u":1}`, `"_source":true`, `"zz":1`} {
		if rapid.IntRange(0, 5).Draw(t, part) == 0 {
			parts = append(parts, part)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func drawBulk(t *rapid.T, index string) string {
	var out strings.Builder
	for range rapid.IntRange(1, 6).Draw(t, "items") {
		id := texts.Draw(t, "id")
		switch rapid.IntRange(0, 4).Draw(t, "operation") {
		case 0:
			fmt.Fprintf(&out, "{\"index\":{\"_id\":\"%s\"%s}}\n%s\n", id, metadata.Draw(t, "metadata"), sources.Draw(t, "source"))
		case 1:
			fmt.Fprintf(&out, "{\"create\":{\"_index\":\"%s\",\"_id\":\"%s\"}}\n%s\n", index, id, sources.Draw(t, "source"))
		case 2:
			fmt.Fprintf(&out, "{\"delete\":{\"_id\":\"%s\"%s}}\n", id, metadata.Draw(t, "metadata"))
		case 3:
			fmt.Fprintf(&out, "{\"update\":{\"_id\":\"%s\"%s}}\n%s\n", id, metadata.Draw(t, "metadata"), drawUpdate(t))
		case 4:
			fmt.Fprintf(&out, "{\"index\":{}}\n%s\n", sources.Draw(t, "source"))
		}
	}
	return out.String()
}
