package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/cli"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/testing/servers"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// TestLiveRoundTrip writes random documents to a real server, takes a snapshot,
// compares every line of `snapshot cat` with the server's own answers, feeds
// `cat --format bulk` to the server's _bulk, and compares again.
func TestLiveRoundTrip(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, version := range []servers.Version{
		servers.OpenSearch("2.19.0"), servers.OpenSearch("3.0.0"),
		servers.Elasticsearch("7.17.29"), servers.Elasticsearch("8.19.0"),
	} {
		t.Run(version.String(), func(t *testing.T) {
			l := startLive(t, version)
			l.write(2000)
			want := l.answers("before")
			repo := l.snapshot()
			got := l.cat(repo, "--versions")
			compareLines(t, want, got, true)

			if out := l.run("snapshot", "verify", repo); !strings.Contains(out, "documents") {
				t.Errorf("verify says %q", out)
			}
			bulk := l.run("snapshot", "cat", repo, "--index", "before", "--format", "bulk", "--quiet")
			l.must("DELETE", "/before", nil)
			l.create("before")
			l.bulk(bulk)
			compareLines(t, want, l.answers("before"), false)
		})
	}
}

// live is a server with an index of random documents.
type live struct {
	t      *testing.T
	server *servers.Server
	dir    string
	rng    *rand.Rand
}

func startLive(t *testing.T, version servers.Version) *live {
	t.Helper()
	dir, err := os.MkdirTemp("", "reshelve-live-") // the server's account must reach it, which t.TempDir may forbid
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server, err := servers.Start(context.Background(), version, servers.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return &live{t: t, server: server, dir: dir, rng: rand.New(rand.NewPCG(seed, 0))}
}

func (l *live) must(method, path string, body []byte) []byte {
	l.t.Helper()
	status, answer, err := l.server.Do(method, path, body)
	if err != nil || status >= 300 {
		l.t.Fatalf("%s %s: %d %.500s %v", method, path, status, answer, err)
	}
	return answer
}

func (l *live) create(index string) {
	l.must("PUT", "/"+index, []byte(`{"settings":{"number_of_shards":3,"number_of_replicas":0,"refresh_interval":"-1","index.codec":"best_compression"},
		"mappings":{"dynamic":false,"properties":{"kids":{"type":"nested","properties":{"n":{"type":"integer"}}}}}}`))
}

// write indexes, overwrites and deletes random documents in several segments.
func (l *live) write(n int) {
	l.create("before")
	for done := 0; done < n; done += 250 {
		var lines strings.Builder
		for range 250 {
			id := l.id()
			action := map[string]any{"_id": id}
			if strings.HasPrefix(id, "r") { // one routing for each such id, or it would be two documents
				action["routing"] = "shelf " + id
			}
			verb := "index"
			if l.rng.IntN(6) == 0 {
				verb = "delete"
			}
			head, _ := json.Marshal(map[string]any{verb: action})
			lines.Write(head)
			lines.WriteByte('\n')
			if verb == "index" {
				lines.WriteString(l.source())
				lines.WriteByte('\n')
			}
		}
		l.must("POST", "/before/_bulk?refresh=true", []byte(lines.String()))
	}
	l.must("PUT", "/before/_doc/broken?refresh=true", []byte("\r\n {\n \"raw\" :\r\n \"line breaks\"\n}\n"))
}

func (l *live) id() string {
	n := l.rng.IntN(1200)
	return []string{fmt.Sprint(n), fmt.Sprintf("r%d", n), fmt.Sprintf("Base64Like_%04d", n), fmt.Sprintf("å/%d \"%%", n)}[n%4]
}

func (l *live) source() string {
	words := make([]string, 1+l.rng.IntN(200))
	for i := range words {
		words[i] = []string{"folio", "quarto", "Ünïcode", `back\\slash`, "\\ud83d\\ude00", "tome"}[l.rng.IntN(6)]
	}
	kids := make([]string, l.rng.IntN(4))
	for i := range kids {
		kids[i] = fmt.Sprintf(`{"n": %d}`, i)
	}
	return fmt.Sprintf(` {"n":%d, "x": %g,"text":"%s" , "kids":[%s]}`, l.rng.IntN(1e6), l.rng.NormFloat64(), strings.Join(words, " "), strings.Join(kids, ","))
}

// snapshot takes a snapshot into a new repository and returns its folder.
func (l *live) snapshot() string {
	where := filepath.Join(l.dir, "repos", "live")
	l.must("PUT", "/_snapshot/live", fmt.Appendf(nil, `{"type":"fs","settings":{"location":%q,"chunk_size":"20kb"}}`, where))
	l.must("PUT", "/_snapshot/live/one?wait_for_completion=true", []byte(`{"indices":"before"}`))
	return where
}

// line is one document as either side shows it.
type line struct {
	ID      string          `json:"_id"`
	Routing string          `json:"_routing"`
	Version int64           `json:"_version"`
	SeqNo   int64           `json:"_seq_no"`
	Term    int64           `json:"_primary_term"`
	Source  json.RawMessage `json:"_source"`
}

// answers are the index's documents as the server returns them, by id.
func (l *live) answers(index string) map[string]line {
	l.must("POST", "/"+index+"/_refresh", nil)
	answer := l.must("GET", "/"+url.PathEscape(index)+"/_search?size=10000&version=true&seq_no_primary_term=true", nil)
	var result struct {
		Hits struct{ Hits []line }
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		l.t.Fatal(err)
	}
	if len(result.Hits.Hits) < 100 {
		l.t.Fatalf("the server returns only %d documents", len(result.Hits.Hits))
	}
	byID := map[string]line{}
	for _, hit := range result.Hits.Hits {
		hit.Source = bytes.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, hit.Source)
		byID[hit.ID] = hit
	}
	return byID
}

// run runs the command, which must succeed, and returns its standard output.
func (l *live) run(args ...string) string {
	l.t.Helper()
	var stdout, stderr bytes.Buffer
	ctl := control.New(control.Wiring{Blobs: map[string]blob.Opener{"file": folder.Open}})
	if code := cli.Run(context.Background(), ctl, args, &stdout, &stderr); code != 0 {
		l.t.Fatalf("reshelve %s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String()
}

func (l *live) cat(repo string, flags ...string) map[string]line {
	out := l.run(append([]string{"snapshot", "cat", repo, "--quiet"}, flags...)...)
	byID := map[string]line{}
	for text := range strings.Lines(out) {
		var doc line
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			l.t.Fatalf("%q: %v", text, err)
		}
		if _, twice := byID[doc.ID]; twice {
			l.t.Errorf("document %q is printed twice", doc.ID)
		}
		byID[doc.ID] = doc
	}
	return byID
}

func (l *live) bulk(lines string) {
	answer := l.must("POST", "/_bulk?refresh=true", []byte(lines))
	var result struct{ Errors bool }
	if err := json.Unmarshal(answer, &result); err != nil || result.Errors {
		l.t.Fatalf("_bulk refuses what cat printed: %.1000s %v", answer, err)
	}
}

func compareLines(t *testing.T, want, got map[string]line, versions bool) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d documents, the server has %d", len(got), len(want))
	}
	for id, w := range want {
		g, ok := got[id]
		if !versions {
			g.Version, g.SeqNo, g.Term = w.Version, w.SeqNo, w.Term
		}
		if !ok || g.Routing != w.Routing || g.Version != w.Version || g.SeqNo != w.SeqNo || g.Term != w.Term || strings.TrimSpace(string(g.Source)) != strings.TrimSpace(string(w.Source)) {
			t.Errorf("document %q:\n got %+v %s\nwant %+v %s", id, g, g.Source, w, w.Source)
			return
		}
	}
}
