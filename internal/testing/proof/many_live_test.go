package proof

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveManySmallDocuments: PROOF_DOCUMENTS of some bytes each; a million takes minutes.
func TestLiveManySmallDocuments(t *testing.T) {
	many := number(t, "PROOF_DOCUMENTS", 0)
	if os.Getenv("RESHELVE_LIVE") == "" || many == 0 {
		t.Skip("RESHELVE_LIVE=1 starts a real server; PROOF_DOCUMENTS=1000000 says how many documents there are")
	}
	l := startWith(t, servers.OpenSearch("2.19.0"), servers.Options{Heap: "1g"})
	l.must("PUT", "/before", `{"settings":{"number_of_shards":2,"number_of_replicas":0,"refresh_interval":"-1"},"mappings":{"enabled":false}}`)
	for from := 0; from < many; from += 20_000 {
		var lines strings.Builder
		for n := from; n < min(from+20_000, many); n++ {
			fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d}\n", n, n)
		}
		if answer := l.must("POST", "/before/_bulk", lines.String()); !strings.Contains(string(answer[:100]), `"errors":false`) {
			t.Fatalf("%.500s", answer)
		}
	}
	l.must("POST", "/before/_flush", "")
	l.snapshot("all")
	began := time.Now()
	m, _ := migrates(t, 0, "--from", l.repo, "--snapshot", "all", "--index", "before")
	took := time.Since(began)
	if p := m.Progress; p.Acknowledged != many || len(p.Verified) != 1 || !strings.HasPrefix(p.Verified[0].Found, fmt.Sprint(many, ":")) || p.Verified[0].Expected != p.Verified[0].Found {
		t.Errorf("%+v", p)
	}
	t.Logf("%d documents moved into a folder and proved in %s", many, took.Round(time.Millisecond))
}

// TestLiveManyIndices: PROOF_INDICES of one document each, into a served store of which the
// requests are counted; 2,000 take minutes, most of them to make them.
func TestLiveManyIndices(t *testing.T) {
	many := number(t, "PROOF_INDICES", 0)
	if os.Getenv("RESHELVE_LIVE") == "" || many == 0 {
		t.Skip("RESHELVE_LIVE=1 starts a real server; PROOF_INDICES=2000 says how many indices there are")
	}
	l := startWith(t, servers.OpenSearch("2.19.0"), servers.Options{Heap: "2g", Settings: map[string]any{"cluster.max_shards_per_node": many + 10}})
	l.must("PUT", "/_index_template/many", `{"index_patterns":["many-*"],"template":{"settings":{"number_of_shards":1,"number_of_replicas":0,"refresh_interval":"-1"},"mappings":{"dynamic":false}}}`)
	for from := 0; from < many; from += 50 { // the server makes those of a request side by side
		var lines strings.Builder
		for n := from; n < min(from+50, many); n++ {
			fmt.Fprintf(&lines, "{\"index\":{\"_index\":\"many-%d\",\"_id\":\"1\"}}\n{\"n\":%d}\n", n, n)
		}
		if answer := l.must("POST", "/_bulk?timeout=10m", lines.String()); !strings.Contains(string(answer[:100]), `"errors":false`) {
			t.Fatalf("%.500s", answer)
		}
	}
	l.must("PUT", "/_snapshot/delta", fmt.Sprintf(`{"type":"fs","settings":{"location":%q}}`, l.repo))
	l.must("PUT", "/_snapshot/delta/all", `{"indices":"many-*"}`)
	until(t, "the snapshot has been taken", func() bool {
		return strings.Contains(string(l.must("GET", "/_snapshot/delta/all", "")), `"SUCCESS"`)
	})
	if err := l.server.Stop(); err != nil {
		t.Fatal(err)
	}
	p, address := serve(t, filepath.Join(dataFolder(t), "data"))
	ask(t, talk(t), 200, "PUT", address+"/_cluster/settings", fmt.Sprintf(`{"persistent":{"cluster.max_shards_per_node":%d}}`, many+10))
	counted := counting(t, address)
	for _, step := range []struct {
		name  string
		words []string
	}{{"planned", []string{"--dry-run"}}, {"moved and proved", nil}} {
		before, began := counted.requests(), time.Now()
		out := runs(t, append([]string{"migrate", "-q", "--from", l.repo, "--to", counted.URL, "--output", "json"}, step.words...)...)
		t.Logf("%d indices %s in %s with %d requests", many, step.name, time.Since(began).Round(time.Millisecond), counted.requests()-before)
		var m toldNumbers
		if err := json.Unmarshal(out, &m); err != nil {
			t.Fatal(err)
		}
		if step.words == nil && (m.Progress.Acknowledged != many || len(m.Progress.Verified) != many) {
			t.Errorf("%d documents, %d indices proved", m.Progress.Acknowledged, len(m.Progress.Verified))
		}
	}
	stop(t, p)
}

// counter counts the requests to what stands behind it.
type counter struct {
	*httptest.Server
	asked atomic.Int64
}

func (c *counter) requests() int64 { return c.asked.Load() }

func counting(t *testing.T, behind string) *counter {
	t.Helper()
	u, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	through := httputil.NewSingleHostReverseProxy(u)
	through.FlushInterval = -1 // watches are streams
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}
