package cluster_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// conditions: what stands there is looked at, and written over only while it is still the same.
func conditions(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	must(t, c.DeleteIndex(ctx, name))
	t.Cleanup(func() { _ = c.DeleteIndex(context.WithoutCancel(ctx), name) })
	must(t, c.CreateIndex(ctx, name, []byte(`{"settings":{"number_of_shards":1,"number_of_replicas":0}}`)))
	w, err := c.NewWriter(ctx, cluster.WriterOptions{})
	must(t, err)
	write := func(ops ...cluster.Op) cluster.Result {
		t.Helper()
		var b cluster.Batch
		for _, op := range ops {
			op.Index = name
			must(t, b.Add(op))
		}
		r, err := w.Write(ctx, &b)
		must(t, err)
		return r
	}
	look := func(id, routing string) cluster.Standing {
		t.Helper()
		found, err := c.Look(ctx, []cluster.Name{{Index: name, ID: "none"}, {Index: name, ID: id, Routing: routing}})
		must(t, err)
		if len(found) != 2 || found[0].Found {
			t.Fatalf("%+v", found)
		}
		return found[1]
	}
	a, b := []byte("a"), []byte("b")
	write(cluster.Op{ID: a, Routing: []byte("r"), Version: 3, Source: []byte(`{ "n":1.50}`)})
	server, err := c.Server(ctx)
	must(t, err)
	other := "another of the same shard"
	if server.Product == cluster.Reshelve { // where documents of other routing values are others
		other = "r"
	}
	seen := look("a", other)
	if !seen.Found || seen.Routing != "r" || seen.Version != 3 || string(seen.Source) != `{ "n":1.50}` && string(seen.Source) != `{"n":1.50}` {
		t.Errorf("%+v %s", seen, seen.Source)
	}
	other = strings.Replace(other, "another of the same shard", "s", 1)
	over := cluster.Op{ID: a, Routing: []byte(other), Version: -1, Seen: seen.Seen, Source: []byte(`{"n":2}`)}
	if r := write(over); r.Acknowledged != 1 || len(r.Replaced) != 0 {
		t.Errorf("over what was seen: %+v", r)
	}
	if now := look("a", other); now.Version != 4 || now.Routing != other {
		t.Errorf("%+v", now)
	}
	remove := cluster.Op{Action: cluster.Delete, ID: a, Routing: []byte(other), Version: -1, Seen: seen.Seen}
	if r := write(over, remove); len(r.Conflicts) != 2 || r.Conflicts[1].ID != "a" {
		t.Errorf("over what was there before: %+v", r)
	}
	remove.Seen = look("a", other).Seen
	if r := write(remove); r.Acknowledged != 1 || look("a", other).Found {
		t.Errorf("deleted: %+v", r)
	}
	first := cluster.Op{ID: b, Version: 1, Above: true, Source: []byte(`{}`)}
	if r := write(first); r.Acknowledged != 1 || len(r.Replaced) != 0 {
		t.Errorf("where nothing is: %+v", r)
	}
	if r := write(first); len(r.Conflicts) != 1 {
		t.Errorf("where something is: %+v", r)
	}
	first.Version = 7
	if r := write(first); r.Acknowledged != 1 || len(r.Replaced) != 1 || r.Replaced[0].ID != "b" {
		t.Errorf("over an older version: %+v", r)
	}
	again := cluster.Op{ID: b, Version: 7, Source: []byte(`{}`)}
	for _, again.Names = range []bool{false, true} {
		if r := write(again); r.Acknowledged != 1 || len(r.Replaced) > 0 != again.Names {
			t.Errorf("over the same version, to be named %v: %+v", again.Names, r)
		}
	}
	first.ID, first.Routing, first.Version = a, []byte(other), 1
	if r := write(first); len(r.Conflicts) != 1 {
		t.Errorf("where something was deleted a moment ago: %+v", r)
	}
	// The two do not go together: a conditional write takes no version.
	both := `{"index":{"_index":"` + name + `","_id":"b","version":9,"version_type":"external","if_seq_no":0,"if_primary_term":1}}` + "\n{}\n"
	answer, err := c.Send(ctx, cluster.Request{Method: http.MethodPost, Path: []string{"_bulk"}, Body: []byte(both), Type: "application/x-ndjson"})
	if err == nil && !strings.Contains(string(answer.Body), `"status":400`) || err != nil && !strings.Contains(err.Error(), "compare and write") {
		t.Errorf("a condition and a version: %+v %v", answer, err)
	}
}
