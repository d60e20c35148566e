package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveDelta: a real server writes, and snapshots, three times; each snapshot is brought to
// an index of the same server, the later ones as deltas, of which some are killed. After each,
// both indices are asked for every document.
func TestLiveDelta(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	for _, version := range []servers.Version{servers.OpenSearch("2.19.0"), servers.Elasticsearch("7.17.29")} {
		t.Run(version.String(), func(t *testing.T) {
			l := startDelta(t, version)
			l.must("PUT", "/before", `{"settings":{"number_of_shards":2,"number_of_replicas":0,"refresh_interval":"-1","index.gc_deletes":"0s"},"mappings":{"dynamic":false}}`)
			for from := 0; from < 12_000; from += 3_000 { // several segments
				l.write("index", from, from+3_000, 0)
			}
			l.write("index", 100, 110, 0) // version 2
			l.snapshot("one")
			l.migrate("one", "")
			l.same()

			l.write("index", 0, 200, 1)
			l.write("delete", 5_000, 5_150, 0)
			l.write("delete", 100, 105, 0)
			l.must("POST", "/before/_refresh", "")
			time.Sleep(2 * time.Second) // the source forgets the deletions
			l.must("POST", "/before/_flush?force=true", "")
			l.write("index", 100, 105, 7) // their versions begin anew
			l.write("index", 12_000, 12_100, 0)
			l.snapshot("two")
			m := l.migrate("two", "one")
			if c := m.Changed; c.Deleted != 150 || m.Copied.Read != 300 || c.SegmentsSkipped == 0 || c.BytesSkipped == 0 || c.DocumentsSkipped < 11_000 {
				t.Errorf("%+v %+v", c, m.Copied)
			}
			l.same()

			l.write("index", 102, 104, 8)
			l.write("index", 7_000, 7_050, 2)
			l.write("delete", 8_000, 8_025, 0)
			l.must("POST", "/before/_forcemerge?max_num_segments=1", "")
			l.snapshot("three")
			m = l.migrate("three", "two")
			if c := m.Changed; c.Deleted != 25 || m.Copied.Read != 52 || c.Compared != 11_925 || c.Unchanged != 11_925-52 {
				t.Errorf("%+v %+v", c, m.Copied)
			}
			l.same()
		})
	}
}

// deltaLive is a server that is source and target.
type deltaLive struct {
	t      *testing.T
	server *servers.Server
	repo   string
	rng    *rand.Rand
}

func startDelta(t *testing.T, version servers.Version) *deltaLive {
	t.Helper()
	return startWith(t, version, servers.Options{})
}

func startWith(t *testing.T, version servers.Version, o servers.Options) *deltaLive {
	t.Helper()
	dir, err := os.MkdirTemp("", "reshelve-delta-") // the server's account must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o.Dir = dir
	server, err := servers.Start(context.Background(), version, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return &deltaLive{t: t, server: server, repo: filepath.Join(dir, "repos", "delta"), rng: rand.New(rand.NewPCG(seed(t), 0))}
}

func (l *deltaLive) must(method, path, body string) []byte {
	l.t.Helper()
	status, answer, err := l.server.Do(method, path, []byte(body))
	if err != nil || status >= 300 {
		l.t.Fatalf("%s %s: %d %.500s %v", method, path, status, answer, err)
	}
	return answer
}

// write writes, or deletes, the documents from one number to another.
func (l *deltaLive) write(verb string, from, to, round int) {
	l.t.Helper()
	var lines strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&lines, `{%q:{"_id":"d%d"}}`+"\n", verb, n)
		if verb == "index" {
			fmt.Fprintf(&lines, `{ "n":%d, "round" : %d,"text":%q}`+"\n", n, round, strings.Repeat("folio quarto ", n%20))
		}
	}
	if answer := l.must("POST", "/before/_bulk?refresh=true", lines.String()); !strings.Contains(string(answer[:200]), `"errors":false`) {
		l.t.Fatalf("%.1000s", answer)
	}
}

func (l *deltaLive) snapshot(name string) {
	l.t.Helper()
	l.must("PUT", "/_snapshot/delta", fmt.Sprintf(`{"type":"fs","settings":{"location":%q}}`, l.repo))
	l.must("PUT", "/_snapshot/delta/"+name+"?wait_for_completion=true", `{"indices":"before"}`)
}

// deltaIndex is what is told of the index that was moved.
type deltaIndex struct {
	Copied  struct{ Read, Acknowledged, Conflicts int }
	Changed struct {
		SegmentsSkipped, DocumentsSkipped, BytesSkipped, Compared, Unchanged, Deleted int
	}
}

// migrate brings a snapshot; a delta is killed at some moment, and others go on.
func (l *deltaLive) migrate(name, since string) deltaIndex {
	l.t.Helper()
	words := []string{"migrate", "-q", "--from", l.repo, "--snapshot", name, "--to", l.server.URL, "--rename", "before=after", "--heartbeat", "200ms", "--initial-lease", "4s"}
	if since != "" {
		words = append(words, "--since", since)
		p := start(l.t, words...)
		time.Sleep(time.Duration(l.rng.Int64N(int64(1500 * time.Millisecond))))
		if err := p.Kill(); err != nil {
			l.t.Fatal(err)
		}
	} else {
		runs(l.t, words...)
	}
	var all []struct {
		ID, State string
		Plan      struct{ Snapshot string }
	}
	for began := time.Now(); time.Since(began) < time.Minute; {
		if err := json.Unmarshal(runs(l.t, "movement", "ls", "--at", l.server.URL, "--output", "json"), &all); err != nil {
			l.t.Fatal(err)
		}
		last := all[len(all)-1]
		switch {
		case last.Plan.Snapshot != name: // it was killed before anything was planned
			runs(l.t, words...)
		case last.State == "finished":
			var m struct {
				Progress struct{ Indices []deltaIndex }
			}
			if err := json.Unmarshal(runs(l.t, "movement", "status", last.ID, "--at", l.server.URL, "--output", "json"), &m); err != nil {
				l.t.Fatal(err)
			}
			return m.Progress.Indices[0]
		case last.State == "planned": // it was killed before it was started
			runs(l.t, "movement", "abort", last.ID, "--at", l.server.URL)
			runs(l.t, "worker", "--join", l.server.URL, "--once")
			runs(l.t, words...)
		case last.State == "held" || last.State == "failed":
			l.t.Fatalf("it is %s\n%s", last.State, runs(l.t, "movement", "status", last.ID, "--at", l.server.URL))
		default:
			runs(l.t, "worker", "--join", l.server.URL, "--once")
		}
	}
	l.t.Fatal("the movement does not end")
	return deltaIndex{}
}

// documents are those of an index by id, as the server returns them.
func (l *deltaLive) documents(index string) map[string]string {
	l.t.Helper()
	l.must("POST", "/"+index+"/_refresh", "")
	all, after := map[string]string{}, ""
	for {
		answer := l.must("POST", "/"+index+"/_search", `{"size":5000,"sort":[{"_id":"asc"}]`+after+`}`)
		var page struct {
			Hits struct {
				Hits []struct {
					ID     string          `json:"_id"`
					Source json.RawMessage `json:"_source"`
					Sort   json.RawMessage `json:"sort"`
				}
			}
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			l.t.Fatal(err)
		}
		if len(page.Hits.Hits) == 0 {
			return all
		}
		for _, h := range page.Hits.Hits {
			all[h.ID] = string(h.Source)
			after = `,"search_after":` + string(h.Sort)
		}
	}
}

// same asks for every document on both sides.
func (l *deltaLive) same() {
	l.t.Helper()
	want, got := l.documents("before"), l.documents("after")
	if maps.Equal(want, got) && len(want) > 10_000 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if want[id] != got[id] {
			l.t.Fatalf("%s is %q, want %q; %d documents, want %d", id, got[id], want[id], len(got), len(want))
		}
	}
	l.t.Fatalf("%d documents, want %d", len(got), len(want))
}
