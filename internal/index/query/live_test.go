package query

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"

	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

var (
	update = flag.Bool("update", false, "TestLiveAnswers writes what the server says into testdata")
	at     = flag.String("at", "", "URL of an OpenSearch 2.19.0 with all modules for TestLiveAnswers; without, one is started")
)

// The index that testdata's answers were given about.
const (
	liveIndex = "/qp-a"
	liveMap   = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{"t":{"type":"text"},"k":{"type":"keyword"},"n":{"type":"long"},"d":{"type":"date"},"g":{"type":"geo_point"},"o":{"type":"nested","properties":{"x":{"type":"keyword"}}}}}}`
	liveDoc   = `{"t":"hello world","k":"x","n":5,"d":"2020-01-01","g":{"lat":1,"lon":2},"o":[{"x":"a"}]}`
)

// TestLiveAnswers asks a real server again for what testdata holds.
func TestLiveAnswers(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	url := *at
	if url == "" {
		server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0").WithEverything(), servers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		url = server.URL
	}
	l := live{t, url}
	l.ask("PUT", liveIndex, liveMap)
	defer l.ask("DELETE", liveIndex+",qp-b?ignore_unavailable=true", "")
	l.ask("PUT", liveIndex+"/_doc/1?refresh=true", liveDoc)
	paths := map[string]string{"count": liveIndex + "/_count", "delete": liveIndex + "/_delete_by_query", "update": liveIndex + "/_update_by_query",
		"analyze": liveIndex + "/_analyze", "caps": liveIndex + "/_field_caps?fields=k", "reindex": "/_reindex", "scroll": "/_search/scroll", "multi": "/_msearch"}
	for _, name := range []string{"clauses.gz", "bodies.gz", "requests.gz"} {
		var now bytes.Buffer
		for _, pair := range answers(t, name) {
			path, body := liveIndex+"/_search", pair[0]
			switch name {
			case "clauses.gz":
				body = `{"query":` + body + `}`
			case "requests.gz":
				kind, rest, _ := strings.Cut(body, " ")
				if path, body = paths[kind], rest; kind == "multi" {
					body = strings.ReplaceAll(rest, `\n`, "\n")
				}
			}
			got := l.compact(l.ask("POST", path, body))
			fmt.Fprintf(&now, "%s\n    %s\n", pair[0], got)
			if was := pair[1]; !*update && !strings.HasPrefix(got, strings.Fields(was + " -")[0]) || !*update && strings.HasPrefix(was, "400") && got != was {
				t.Errorf("%s\n now %s\n was %s", pair[0], got, was)
			}
		}
		if *update {
			l.write("testdata/"+name, now.Bytes())
		}
	}
}

type live struct {
	t   *testing.T
	url string
}

func (l live) ask(method, path, body string) (int, []byte) {
	request, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return response.StatusCode, answer
}

// liveError is an error as the server tells it; members beside those of each are told by
// rest.
type liveError map[string]any

func (e liveError) String() string {
	reason, _ := e["reason"].(string)
	out := fmt.Sprintf("%s: %s", e["type"], reason)
	for _, name := range []string{"line", "col"} {
		if value, ok := e[name]; ok {
			out += fmt.Sprintf(" %s=%v", name, value)
		}
	}
	if cause, ok := e["caused_by"].(map[string]any); ok {
		out += " <- " + liveError(cause).String()
	}
	return out
}

// compact is an answer as testdata has it: ok, an error, or "shards" and an error that
// is found out there.
func (l live) compact(status int, answer []byte) string {
	var told struct {
		Error  json.RawMessage
		Shards struct {
			Failures []struct{ Reason liveError }
		} `json:"_shards"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		l.t.Fatalf("%s: %v", answer, err)
	}
	oneLine := func(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\n", `\n`)) }
	if len(told.Shards.Failures) > 0 {
		return oneLine("shards " + told.Shards.Failures[0].Reason.String())
	}
	if told.Error == nil {
		return "ok"
	}
	var e struct {
		liveError
		Failed []struct{ Reason liveError } `json:"failed_shards"`
	}
	if json.Unmarshal(told.Error, &e) == nil && len(e.Failed) > 0 {
		return oneLine(fmt.Sprintf("shards %d: %s", status, e.Failed[0].Reason))
	}
	if err := json.Unmarshal(told.Error, &e.liveError); err != nil {
		l.t.Fatalf("%s: %v", answer, err)
	}
	return oneLine(fmt.Sprintf("%d %s", status, e.liveError))
}

func (l live) write(name string, text []byte) {
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(name, zipped.Bytes(), 0o644)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}
