package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveComparisonWithAnOpenSearch that another tool has filled, without versions: nothing differs; and what then differs is
// made equal, also where the server remembers the deletion of a later version.
func TestLiveComparisonWithAnOpenSearch(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	at, c := openSearch(t).URL, control.New(wiring)
	selected := control.Selection{Repository: repository, Indices: []string{"shelves"}}
	fill(t, c, selected, at)

	req := control.CompareRequest{Selection: selected, Target: at, Logger: slog.New(slog.DiscardHandler)}
	m, err := c.Compare(t.Context(), req, func(*control.Movement) {})
	if err != nil || m.State != movement.Finished || m.Differs() || m.Progress.Verified[0].Expected != m.Progress.Verified[0].Found {
		t.Fatalf("%v %+v", err, m)
	}

	later := `"version":99,"version_type":"external"`
	order(t, http.MethodPost, at+"/_bulk", `{"delete":{"_index":"shelves","_id":"b-3",`+later+"}}\n"+`{"index":{"_index":"shelves","_id":"b-1",`+later+"}}\n{}\n"+
		`{"index":{"_index":"shelves","_id":"extra"}}`+"\n{}\n")
	m, err = c.Compare(t.Context(), req, func(*control.Movement) {})
	if err != nil || m.State != movement.Held || m.Differences() != 3 {
		t.Fatalf("%v %+v", err, m)
	}
	place, err := req.Place()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tell(t.Context(), control.Order{At: place, ID: m.ID, Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
		t.Fatal(err)
	}
	if m, err = c.Compare(t.Context(), req, func(*control.Movement) {}); err != nil || m.State != movement.Finished || m.Differs() {
		t.Errorf("repaired: %v %+v", err, m)
	}
}

// fill puts the documents of the index shelves into a cluster, as a tool without versions would.
func fill(t *testing.T, c *control.Control, selected control.Selection, at string) {
	t.Helper()
	docs, err := c.Read(t.Context(), control.ReadRequest{Selection: selected}, control.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for docs.Next() {
		doc := docs.Document()
		name := map[string]string{"_index": "shelves", "_id": string(doc.ID)}
		if len(doc.Routing) > 0 {
			name["routing"] = string(doc.Routing)
		}
		action, err := json.Marshal(map[string]any{"index": name})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n%s\n", action, strings.ReplaceAll(string(doc.Source), "\n", " "))
	}
	if err := docs.Close(); err != nil {
		t.Fatal(err)
	}
	order(t, http.MethodPut, at+"/shelves", `{"mappings":{"dynamic":false}}`) // of its own, it would take big for a long
	order(t, http.MethodPost, at+"/_bulk", lines.String())
}

// TestLiveComparisonOfAReader: the privileges read of an index and monitor of the cluster are enough, at a real
// Elasticsearch with security; without the first, the error says what is forbidden.
func TestLiveComparisonOfAReader(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := os.MkdirTemp("", "reshelve-reader-") // not t.TempDir: the server runs as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, err := servers.Start(t.Context(), servers.Elasticsearch("8.19.0"), servers.Options{Dir: dir, Settings: map[string]any{
		"xpack.security.enabled": true, "xpack.security.http.ssl.enabled": false, "xpack.security.transport.ssl.enabled": false,
		"xpack.security.authc.anonymous.roles": "remote_monitoring_collector", "resource.reload.interval.high": "1s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	const password, hashed = "reads-alone", "$2a$10$H/LG6iEAxutk44xCbXjxOubiV0GDjwbl8Cngd9kiM2mfjEAo1Bbi.\n"
	for name, content := range map[string]string{
		"roles.yml":   "reader:\n  cluster: [monitor]\n  indices:\n    - {names: [shelves], privileges: [read]}\nstranger:\n  cluster: [monitor]\n",
		"users":       "ann:" + hashed + "bob:" + hashed + "eve:" + hashed,
		"users_roles": "reader:ann\nsuperuser:bob\nstranger:eve\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "config", name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bob := strings.Replace(server.URL, "http://", "http://bob:"+password+"@", 1)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) { // until the server has read its files
		answer, err := http.Get(bob + "/_security/_authenticate")
		if err == nil {
			_ = answer.Body.Close()
		}
		if err == nil && answer.StatusCode == http.StatusOK || time.Now().After(end) {
			break
		}
	}
	c, selected := control.New(wiring), control.Selection{Repository: repository, Indices: []string{"shelves"}}
	fill(t, c, selected, bob)
	order(t, http.MethodPost, bob+"/shelves/_refresh", "")

	t.Setenv("RESHELVE_TARGET_PASSWORD", password)
	t.Setenv("RESHELVE_TARGET_USER", "ann")
	req := control.CompareRequest{Selection: selected, Target: server.URL, Logger: slog.New(slog.DiscardHandler)}
	m, err := c.Compare(t.Context(), req, func(*control.Movement) {})
	if err != nil || m.State != movement.Finished || m.Differs() || m.Progress.Verified[0].Expected != m.Progress.Verified[0].Found || !m.Progress.Verified[0].Unrefreshed {
		t.Fatalf("%v %v %+v", err, m, m.Progress)
	}
	t.Setenv("RESHELVE_TARGET_USER", "eve")
	if _, err = c.Compare(t.Context(), req, func(*control.Movement) {}); err == nil || !strings.Contains(err.Error(), "shelves") {
		t.Errorf("without the right to read: %v", err)
	}
}
