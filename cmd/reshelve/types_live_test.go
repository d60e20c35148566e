package main

import (
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveMergedTypes: the plan of a merge into a server counts the ids that types have in common, with the same routing and with
// different ones, and is refused; when it is accepted, the movement comes to its end, and a comparison finds both sides equal.
func TestLiveMergedTypes(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	c := control.New(wiring)
	from := control.Selection{Repository: "../../testdata/repositories/elasticsearch-5.6.16-types/repo", Indices: []string{"families"}}
	req := control.MigrateRequest{Selection: from, Target: server.URL}
	req.Metadata.Types, req.Metadata.Shards = translate.MergeTypes, 1
	p, err := c.Preview(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if one := p.Indices[0].Collapse; one == nil || one.IDs != 11 || one.Documents != 22 || one.Overwritten != 7 || one.AtRisk != 4 || len(one.Listed) != 11 {
		t.Errorf("%+v", one)
	}
	if len(p.Problems) != 1 || !strings.Contains(p.Problems[0].Message, "7 of these would be left out; 4 have another routing") {
		t.Errorf("%+v", p.Problems)
	}
	if _, err := c.Migrate(t.Context(), req, nil); err == nil {
		t.Error("it began though nobody has accepted that")
	}
	req.Yes = true
	m, err := c.Migrate(t.Context(), req, func(*control.Movement) {})
	if err != nil || m.State != movement.Finished || m.Progress.Acknowledged != 15 {
		t.Fatalf("%v %+v", err, m)
	}
	m, err = c.Compare(t.Context(), control.CompareRequest{Selection: from, Target: server.URL, Types: "merge", Coordinate: "local:" + t.TempDir()}, func(*control.Movement) {})
	if err != nil || m.State != movement.Finished || m.Progress.Verified[0].Differs() {
		t.Errorf("%v %+v", err, m)
	}
}
