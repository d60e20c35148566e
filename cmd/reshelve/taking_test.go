package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// source is a cluster of which snapshots are taken, as far as the documents of its API tell:
// each snapshot comes to the end that is wanted.
type source struct {
	*httptest.Server
	end   string // of the next snapshots
	build string // type of the build that it says it is

	mu    sync.Mutex
	repos map[string]json.RawMessage
	snaps map[string]string // states
	asked []string
	by    map[string]bool // what stood in Authorization
}

func newSource(t *testing.T, end string) *source {
	s := &source{end: end, repos: map[string]json.RawMessage{}, snaps: map[string]string{}, by: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by[r.Header.Get("Authorization")] = true
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method != http.MethodGet {
		s.asked = append(s.asked, r.Method+" "+strings.Join(path, "/"))
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case path[0] == "":
		fmt.Fprintf(w, `{"version":{"number":"2.19.0","distribution":"opensearch","build_type":%q}}`, s.build)
	case path[0] == "_cat":
		fmt.Fprint(w, `[{"index":"books","status":"open","pri":"2","rep":"0","docs.count":"7","pri.store.size":"900"}]`)
	case path[0] == "_snapshot" && len(path) < 3:
		s.repository(w, r, path, body)
	case path[0] == "_snapshot":
		s.snapshot(w, r, path)
	default:
		http.NotFound(w, r)
	}
}

func (s *source) repository(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	switch r.Method {
	case http.MethodGet:
		_ = json.NewEncoder(w).Encode(s.repos)
		return
	case http.MethodPut:
		s.repos[path[1]] = body
	case http.MethodDelete:
		delete(s.repos, path[1])
	}
	fmt.Fprint(w, `{"acknowledged":true}`)
}

func (s *source) snapshot(w http.ResponseWriter, r *http.Request, path []string) {
	name := path[2]
	state, there := s.snaps[name]
	switch {
	case r.Method == http.MethodPut:
		s.snaps[name] = s.end
		fmt.Fprint(w, `{"accepted":true}`)
	case !there:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":{"type":"snapshot_missing_exception","reason":"[%s] is missing"},"status":404}`, name)
	case r.Method == http.MethodDelete:
		delete(s.snaps, name)
		fmt.Fprint(w, `{"acknowledged":true}`)
	case len(path) > 3:
		fmt.Fprintf(w, `{"snapshots":[{"shards_stats":{"done":1,"failed":1,"total":2},"stats":{"incremental":{"size_in_bytes":900},"processed":{"size_in_bytes":300}}}]}`)
	default:
		fmt.Fprintf(w, `{"snapshots":[{"snapshot":%q,"state":%q,"reason":"the disk is full","failures":[{"index":"books","shard_id":1}]}]}`, name, state)
	}
}

func (s *source) holds() (repositories, snapshots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.repos), len(s.snaps)
}

// take asks for a migration of what s holds into a folder.
func take(t *testing.T, s *source, data string) (*control.Movement, error) {
	t.Helper()
	policy := work.Default
	policy.Heartbeat = 10 * time.Millisecond
	return control.New(wiring).Migrate(t.Context(), control.MigrateRequest{FromCluster: s.URL, Target: data, Policy: policy,
		Selection: control.Selection{Repository: repository}}, func(*control.Movement) {})
}

// TestAStoreTakesNoSnapshots: a reshelve serve is refused as the source before a movement is stored.
func TestAStoreTakesNoSnapshots(t *testing.T) {
	s := newSource(t, "SUCCESS")
	s.build = "reshelve"
	data := t.TempDir()
	_, err := take(t, s, data)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), s.URL+": it is a reshelve serve, which takes no snapshots") || fault.Next(err) == "" {
		t.Errorf("%v", err)
	}
	if r, n := s.holds(); r != 0 || n != 0 {
		t.Errorf("the source holds %d repositories and %d snapshots", r, n)
	}
	if all, err := control.New(wiring).Movements(t.Context(), data); err == nil && len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

// TestASnapshotThatFails fails the movement with the cause; abort leaves nothing on the source.
func TestASnapshotThatFails(t *testing.T) {
	for _, tc := range []struct{ end, cause string }{
		{"FAILED", "the disk is full"},
		{"PARTIAL", "1 of its 2 shards failed"},
	} {
		t.Run(tc.end, func(t *testing.T) {
			s, data := newSource(t, tc.end), t.TempDir()
			m, err := take(t, s, data)
			if err != nil || m.State != movement.Failed || !strings.Contains(m.Cause, tc.cause) || m.Next == "" {
				t.Fatalf("%v %+v", err, m)
			}
			if r, n := s.holds(); r != 1 || n != 1 {
				t.Errorf("the source holds %d repositories and %d snapshots", r, n)
			}
			ended := tellAndWork(t, s, data, m.ID, movement.Abort)
			if ended.State != movement.Aborted {
				t.Errorf("%s: %s", ended.State, ended.Cause)
			}
			if r, n := s.holds(); r != 0 || n != 0 {
				t.Errorf("after the abort the source holds %d repositories and %d snapshots; %v", r, n, s.asked)
			}
		})
	}
}

// TestADeltaOfNothing is refused before a snapshot is taken for it.
func TestADeltaOfNothing(t *testing.T) {
	s := newSource(t, "SUCCESS")
	_, err := control.New(wiring).Migrate(t.Context(), control.MigrateRequest{FromCluster: s.URL, Target: t.TempDir(), Delta: true,
		Selection: control.Selection{Repository: repository}}, func(*control.Movement) {})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "no movement that has finished") || !strings.Contains(fault.Next(err), "reshelve movement ls --at ") || len(s.asked) > 0 {
		t.Errorf("%v; the source was asked %q", err, s.asked)
	}
}

// TestASnapshotIsTakenAgain when the cause of its failure was mended, under the name that it had.
func TestASnapshotIsTakenAgain(t *testing.T) {
	s, data := newSource(t, "FAILED"), t.TempDir()
	m, err := take(t, s, data)
	if err != nil {
		t.Fatal(err)
	}
	s.end = "SUCCESS"
	again := tellAndWork(t, s, data, m.ID, movement.Resume)
	if want := "not at "; again.State != movement.Failed || !strings.Contains(again.Cause, want) { // this source writes nothing
		t.Errorf("%s: %s", again.State, again.Cause)
	}
	name := fmt.Sprintf("_snapshot/%[1]s/%[1]s", "reshelve-"+m.ID)
	if want := []string{"PUT _snapshot/reshelve-" + m.ID, "PUT " + name, "DELETE " + name, "PUT " + name}; !slices.Equal(s.asked, want) {
		t.Errorf("the source was asked\n%q, not\n%q", s.asked, want)
	}
}

// TestAnotherWorkerWaitsOn for a snapshot whose creator was stopped: it is created once, and how
// far it is can be read.
func TestAnotherWorkerWaitsOn(t *testing.T) {
	s, data := newSource(t, "IN_PROGRESS"), t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	policy := work.Default
	policy.Heartbeat = 10 * time.Millisecond
	m, err := control.New(wiring).Migrate(ctx, control.MigrateRequest{FromCluster: s.URL, Target: data, Policy: policy,
		Selection: control.Selection{Repository: repository}}, func(m *control.Movement) {
		if m.Progress.Taken != nil && m.Progress.Taken.Is == "IN_PROGRESS" {
			stop()
		}
	})
	if err != nil || m.State != movement.Running || m.Progress.Taken.ShardsDone != 1 || m.Progress.Taken.Bytes != 900 {
		t.Fatalf("%v %+v", err, m)
	}
	s.mu.Lock()
	for name := range s.snaps {
		s.snaps[name] = "SUCCESS"
	}
	s.mu.Unlock()
	all, err := control.New(wiring).Work(t.Context(), control.WorkerRequest{Join: data, Once: true, Allow: control.Allowed{Sources: []string{s.URL}}})
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Cause, "not at ") { // this source writes nothing
		t.Errorf("%v %+v", err, all)
	}
	created := slices.DeleteFunc(s.asked, func(what string) bool { return strings.Count(what, "/") != 2 })
	if len(created) != 1 {
		t.Errorf("the source was asked %q", created)
	}
}

// TestARepositoryThatTheSourceKnows is used, and stays.
func TestARepositoryThatTheSourceKnows(t *testing.T) {
	s, data := newSource(t, "FAILED"), t.TempDir()
	s.repos["nightly"] = json.RawMessage(`{"type":"fs","settings":{"location":"/backups"}}`)
	policy := work.Default
	policy.Heartbeat = 10 * time.Millisecond
	m, err := control.New(wiring).Migrate(t.Context(), control.MigrateRequest{FromCluster: s.URL, Target: data, SnapshotRepository: "nightly", Policy: policy,
		Selection: control.Selection{Repository: repository}}, func(*control.Movement) {})
	if err != nil {
		t.Fatal(err)
	}
	tellAndWork(t, s, data, m.ID, movement.Abort)
	if r, n := s.holds(); r != 1 || n != 0 {
		t.Errorf("after the abort the source holds %d repositories and %d snapshots", r, n)
	}
}

// tellAndWork lets a verb happen and works until nothing is left to do.
func tellAndWork(t *testing.T, s *source, data, id string, verb movement.Verb) *control.Movement {
	t.Helper()
	c := control.New(wiring)
	_, err := c.Tell(t.Context(), control.Order{At: data, ID: id, Verb: verb})
	if err == nil {
		_, err = c.Work(t.Context(), control.WorkerRequest{Join: data, Once: true, Allow: control.Allowed{Sources: []string{s.URL}}})
	}
	m, reading := c.Movement(t.Context(), data, id)
	if err := errors.Join(err, reading); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTheSourceIsToldWhoWeAre, by what the environment holds for sources alone; the record of
// the movement holds no secret.
func TestTheSourceIsToldWhoWeAre(t *testing.T) {
	t.Setenv("RESHELVE_SOURCE_API_KEY", "c2VjcmV0")
	t.Setenv("RESHELVE_TARGET_API_KEY", "b3RoZXI=")
	s, data := newSource(t, "FAILED"), t.TempDir()
	m, err := take(t, s, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.by) != 1 || !s.by["ApiKey c2VjcmV0"] {
		t.Errorf("it is told %v", s.by)
	}
	if record, err := json.Marshal(m); err != nil || strings.Contains(string(record), "c2VjcmV0") {
		t.Errorf("%v %s", err, record)
	}
}

// TestLiveTakeASnapshot of a real server, and bring it into a folder.
func TestLiveTakeASnapshot(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, version := range []servers.Version{servers.OpenSearch("2.19.0"), servers.Elasticsearch("7.17.29")} {
		t.Run(version.String(), func(t *testing.T) {
			dir, err := os.MkdirTemp("", "reshelve-taking-") // the server's account must reach it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			server, err := servers.Start(t.Context(), version, servers.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Stop() })
			for i := range 30 {
				if status, answer, err := server.Do("PUT", fmt.Sprintf("/books/_doc/%d?refresh=true", i), fmt.Appendf(nil, `{"n":%d}`, i)); err != nil || status >= 300 {
					t.Fatalf("%d %s %v", status, answer, err)
				}
			}
			asked := control.MigrateRequest{FromCluster: server.URL, Target: t.TempDir(),
				Selection: control.Selection{Repository: server.Repos + "/taken", Indices: []string{"books"}}}
			m, err := control.New(wiring).Migrate(t.Context(), asked, func(*control.Movement) {})
			if err != nil || m.State != movement.Finished || m.Progress.Acknowledged != 30 {
				t.Fatalf("%v %+v", err, m)
			}
			for what, path := range map[string]string{"PUT": "/books/_doc/31?refresh=true", "DELETE": "/books/_doc/7?refresh=true"} {
				if status, answer, err := server.Do(what, path, map[string][]byte{"PUT": []byte(`{"n":31}`)}[what]); err != nil || status >= 300 {
					t.Fatalf("%d %s %v", status, answer, err)
				}
			}
			asked.Delta = true
			m, err = control.New(wiring).Migrate(t.Context(), asked, func(*control.Movement) {})
			if err != nil || m.State != movement.Finished || m.Progress.Acknowledged != 1 || m.Progress.Indices[0].Changed.Deleted != 1 {
				t.Fatalf("the delta: %v %+v", err, m)
			}
			status, answer, err := server.Do("GET", "/_snapshot", nil)
			if err != nil || string(answer) != "{}" {
				t.Errorf("the repository is still known: %d %s %v", status, answer, err)
			}
		})
	}
}

// TestSizesBeforeASnapshot: the source gives the size of the files of its indices. A plan shows that as files, and never as sources.
func TestSizesBeforeASnapshot(t *testing.T) {
	s := newSource(t, "SUCCESS")
	asked := control.MigrateRequest{FromCluster: s.URL, Target: filepath.Join(t.TempDir(), "data"), Selection: control.Selection{Repository: t.TempDir()}}
	p, err := control.New(wiring).Preview(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if i := p.Plan.Indices[0]; i.Bytes != 0 || i.Stored != 900 || p.Cost.SourceBytes != 0 || p.Cost.FileBytes != 900 || p.Cost.Exact || p.Cost.Documents != 7 {
		t.Errorf("%+v %+v", i, p.Cost)
	}
	if len(p.Unknown) != 1 || !strings.Contains(p.Unknown[0], "sources") {
		t.Errorf("nothing says what is not known: %q", p.Unknown)
	}
}
