package aggregate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/testing/servers"
	"pgregory.net/rapid"
)

var at = flag.String("at", "", "URL of an OpenSearch 2.19.0 for TestLiveAggregations; without, one is started")

// TestLiveAggregations asks a real server what testdata holds, and random aggregations.
func TestLiveAggregations(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	live := &liveServer{t: t, server: &servers.Server{URL: *at, Version: servers.OpenSearch("2.19.0")}}
	if *at == "" {
		var err error
		if live.server, err = servers.Start(t.Context(), servers.OpenSearch("2.19.0").WithEverything(), servers.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { live.server.Stop() })
	}
	paths, _ := filepath.Glob("testdata/*.txt*")
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { live.conversation(t, path) })
	}
	t.Run("random", live.random)
}

type liveServer struct {
	t      *testing.T
	server *servers.Server
	made   int
}

const livePrefix = "reshelve-aggregate-"

// make makes an index and its documents.
func (l *liveServer) make(t failing, d *described) (remove func()) {
	path := "/" + livePrefix + d.name
	l.do(t, "DELETE", path, nil)
	mappings := fmt.Sprintf(`{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":%s}`, d.mappings)
	if status, answer := l.do(t, "PUT", path, []byte(mappings)); status != 200 {
		t.Fatalf("%s: %s", d.name, answer)
	}
	var bulk bytes.Buffer
	for i, source := range d.docs {
		fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%d\"}}\n%s\n", i, source)
	}
	if bulk.Len() > 0 {
		if status, answer := l.do(t, "POST", path+"/_bulk?refresh=true", bulk.Bytes()); status != 200 || bytes.Contains(answer, []byte(`"errors":true`)) {
			t.Fatalf("%s: %s", d.name, answer)
		}
	}
	return func() { l.do(t, "DELETE", path, nil) }
}

func (l *liveServer) do(t failing, method, path string, body []byte) (int, []byte) {
	status, answer, err := l.server.Do(method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// ask gives the answer of the server in the form of the files.
func (l *liveServer) ask(t failing, names []string, body string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = livePrefix + name
	}
	status, answer := l.do(t, "POST", "/"+strings.Join(all, ",")+"/_search?typed_keys", []byte(body))
	answer = bytes.ReplaceAll(answer, []byte(livePrefix), nil)
	if status == 200 {
		if i := bytes.Index(answer, []byte(`"aggregations":`)); i >= 0 {
			return "200 " + string(answer[i+len(`"aggregations":`):len(answer)-1])
		}
		return "200 {}"
	}
	var failed struct{ Error liveError }
	if err := json.Unmarshal(answer, &failed); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	e := &failed.Error
	switch {
	case len(e.Shards) > 0:
		e = &e.Shards[0].Reason
	case e.Type == "search_phase_execution_exception":
		e = e.Cause
	}
	return fmt.Sprint(status, " ", told(e.exception()))
}

// liveError is an error as the server tells it.
type liveError struct {
	Type, Reason string
	Line, Col    int
	Cause        *liveError                   `json:"caused_by"`
	Shards       []struct{ Reason liveError } `json:"failed_shards"`
}

func (e *liveError) exception() *exception.Error {
	out := exception.New(exception.Type(e.Type), "%s", e.Reason)
	if e.Line > 0 {
		out = out.With("line", e.Line).With("col", e.Col)
	}
	if e.Cause != nil {
		out = out.CausedBy(e.Cause.exception())
	}
	return out
}

func (l *liveServer) conversation(t *testing.T, path string) {
	c := readConversation(t, path)
	for _, name := range c.order {
		defer l.make(t, c.indices[name])()
	}
	for _, q := range c.asked {
		if got := l.ask(t, q.names, q.body); got != q.answer {
			t.Errorf("%s:%d: %s\n the server says %s\nand not          %s", path, q.line, q.body, got, q.answer)
		}
	}
}

// random compares random aggregations over random papers.
func (l *liveServer) random(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l.made++
		d := &described{name: fmt.Sprint("papers-", l.made), mappings: paperMapping}
		for _, p := range drawPapers(t) {
			source, _ := json.Marshal(p)
			d.docs = append(d.docs, string(source))
		}
		defer l.make(t, d)()
		indices := []search.Index{d.index(t, 0, layouts[1])}
		for range 10 {
			body := `{"size":0,"aggs":{"x":` + drawNaive(t, rapid.IntRange(0, 3).Draw(t, "depth")).asked + `}}`
			if got, want := ask(indices, body), l.ask(t, []string{d.name}, body); got != want {
				t.Fatalf("%s\n got %s\nwant %s", body, got, want)
			}
		}
	})
}
