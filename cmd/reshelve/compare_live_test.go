package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/control"
	"github.com/reshelve/reshelve/movement"
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
