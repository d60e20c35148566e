package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// TestAComparisonWithAServedStoreGoesOn where a process that was killed has left it, by the same request, and is recorded beside
// the target, which gets nothing.
func TestAComparisonWithAServedStoreGoesOn(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c, data := control.New(wiring), filepath.Join(t.TempDir(), "data")
	selected := control.Selection{Repository: repository}
	moved, err := c.Migrate(t.Context(), control.MigrateRequest{Target: data, Yes: true, Selection: selected, Logger: slog.New(slog.DiscardHandler)}, func(*control.Movement) {})
	if err != nil || moved.State != movement.Finished {
		t.Fatalf("%v %+v", err, moved)
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		ended <- c.Serve(ctx, control.ServeRequest{Data: data, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}, func(s control.Serving) { ready <- s.Address })
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	at, err := url.Parse("http://" + strings.TrimPrefix(<-ready, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	killed, kill := context.WithCancel(t.Context())
	server := httputil.NewSingleHostReverseProxy(at)
	var wrote []string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asks := strings.HasSuffix(r.URL.Path, "/_search") || strings.HasSuffix(r.URL.Path, "/_refresh") || strings.HasSuffix(r.URL.Path, "point_in_time"); {
		case r.URL.Path == "/_reshelve/rows":
			kill() // in the middle of the comparison; of a killed process no other request comes
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !asks:
			wrote = append(wrote, r.Method+" "+r.URL.Path)
		}
		server.ServeHTTP(w, r)
	}))
	defer front.Close()

	policy := work.Default
	policy.Heartbeat = 500 * time.Millisecond // the end waits for three of them after what was killed
	req := control.CompareRequest{Selection: selected, Target: front.URL, Policy: policy, Logger: slog.New(slog.DiscardHandler)}
	left, err := c.Compare(killed, req, func(*control.Movement) {})
	if left == nil || left.State != movement.Running {
		t.Fatalf("%v %+v", err, left)
	}
	done, err := c.Compare(t.Context(), req, func(*control.Movement) {})
	if err != nil || done.ID != left.ID || done.State != movement.Finished || done.Differs() || len(done.Progress.Verified) == 0 {
		t.Errorf("%v %+v, begun as %s", err, done, left.ID)
	}
	if len(wrote) > 0 {
		t.Errorf("the target was written to: %v", wrote)
	}
	if all, err := c.Movements(t.Context(), at.String()); err != nil || len(all) != 1 || all[0].ID != moved.ID {
		t.Errorf("the target has records beside those of the migration: %v %v", all, err)
	}
	place, err := req.Place()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(strings.TrimPrefix(place, "local:"), "coord.db")); err != nil {
		t.Error(err)
	}

	// What differs is repaired when that is asked for; meanwhile other movements see that it writes there.
	order(t, http.MethodPost, at.String()+"/_bulk?refresh=true", `{"delete":{"_index":"shelves","_id":"b-3"}}`+"\n"+`{"index":{"_index":"shelves","_id":"extra"}}`+"\n{}\n")
	held, err := c.Compare(t.Context(), req, func(*control.Movement) {})
	if err != nil || held.State != movement.Held || held.Differences() != 2 || held.ID == done.ID {
		t.Fatalf("%v %+v", err, held)
	}
	if _, err := c.Tell(t.Context(), control.Order{At: place, ID: held.ID, Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Migrate(t.Context(), control.MigrateRequest{Target: at.String(), Yes: true, IntoExisting: true, Selection: selected, Logger: slog.New(slog.DiscardHandler)}, nil)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), held.ID) {
		t.Errorf("a migration into the same indices: %v", err)
	}
	if held, err = c.Compare(t.Context(), req, func(*control.Movement) {}); err != nil || held.State != movement.Finished || held.Differs() {
		t.Errorf("repaired: %v %+v", err, held)
	}
	if _, err := c.Migrate(t.Context(), control.MigrateRequest{Target: at.String(), Yes: true, IntoExisting: true, NoWait: true, Rename: []string{"shelves=again"},
		Selection: control.Selection{Repository: repository, Indices: []string{"shelves"}}, Logger: slog.New(slog.DiscardHandler)}, nil); err != nil {
		t.Errorf("a migration after it: %v", err)
	}

	// The alias of one index is a name of that index.
	order(t, http.MethodPost, at.String()+"/_aliases", `{"actions":[{"add":{"index":"shelves","alias":"shelving"}}]}`)
	named := req
	named.Indices, named.Rename = []string{"shelves"}, []string{"shelves=shelving"}
	if p, err := c.PreviewComparison(t.Context(), named); err != nil || p.Plan.Indices[0].Target != "shelves" || !p.Indices[0].There {
		t.Errorf("by an alias: %v %+v", err, p)
	}

	if _, err := c.Tell(t.Context(), control.Order{At: at.String(), ID: moved.ID, Verb: movement.Repair}); !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Next(err), "reshelve movement verify "+moved.ID) {
		t.Errorf("to repair what has finished: %v → %s", err, fault.Next(err))
	}

	// What has finished is verified again by a comparison of its own.
	again, err := c.Tell(t.Context(), control.Order{At: at.String(), ID: moved.ID, Verb: movement.Verify, By: "ann"})
	if err != nil || again.ID == moved.ID || again.Kind != movement.Comparison {
		t.Fatalf("%v %+v", err, again)
	}
	if _, err := c.Work(t.Context(), control.WorkerRequest{Join: at.String(), Once: true, Memory: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	if again, err = c.Watch(t.Context(), at.String(), again.ID, func(*control.Movement) {}); err != nil || again.State != movement.Finished || again.Differs() {
		t.Errorf("%v %+v", err, again)
	}
}

// order sends JSON, which must be taken, and each item of it.
func order(t *testing.T, method, url, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if told, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode >= 300 || strings.Contains(string(told), `"errors":true`) {
		t.Fatalf("%s %s: %s %s %v", method, url, answer.Status, told, err)
	}
}

// TestARefusedComparisonLeavesNothing: no folder of records is made before the target and the snapshot were looked at.
func TestARefusedComparisonLeavesNothing(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/greets") && r.URL.Path != "/greets/" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write([]byte(`{"version":{"distribution":"opensearch","number":"2.19.0"}}`))
	}))
	defer target.Close()
	for at, want := range map[string]fault.Kind{target.URL: fault.Unauthorised, target.URL + "/greets": fault.NotFound, target.URL + "/greets/books/_doc": fault.Usage} {
		req := control.CompareRequest{Selection: control.Selection{Repository: repository, Snapshot: "nosuch"}, Target: at, Logger: slog.New(slog.DiscardHandler)}
		_, err := control.New(wiring).Compare(t.Context(), req, func(*control.Movement) {})
		left, e := os.ReadDir(state)
		if !fault.Is(err, want) || e != nil || len(left) > 0 {
			t.Errorf("%s: %v; there are %v, %v", at, err, left, e)
		}
	}
}
