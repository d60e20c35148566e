package migrate_test

import (
	"os"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveCollapsedDocuments: on a server a shard holds one document of an id, whatever their routings. What gives way is neither
// sent nor expected, so that a movement which accepts that comes to its end, a repair has nothing to do, and a comparison finds
// both sides equal.
func TestLiveCollapsedDocuments(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	const all = 9 + 6 + 2 + 8 + 1
	for _, row := range []struct {
		id     string
		shards int
		least  int64 // documents on the target
		most   int64
	}{
		{"m1", 1, 15, 15}, // as many as there are ids
		{"m3", 3, 15, 19},
		{"m0", 0, 15, 19}, // two, as in the source
	} {
		r := newRig(t, shared, "only")
		if r.target, err = cluster.New(server.URL, nil); err != nil {
			t.Fatal(err)
		}
		defer r.target.Close()
		plan := typed(r, translate.MergeTypes)
		plan.Metadata.Shards, plan.ItemBytes = row.shards, 1000
		plan.Indices[0].Target = "families-" + row.id
		m, p := r.work(r.startAs(row.id, plan))
		if m.State != movement.Switched {
			t.Errorf("%d shards: %s: %s; %+v", row.shards, m.State, m.Cause, p.Verified)
			continue
		}
		n := int64(r.count(plan.Indices[0].Target))
		if n < row.least || n > row.most || p.Read != all || p.Acknowledged != n || p.Dropped != all-n {
			t.Errorf("%d shards: %d documents, %+v", row.shards, n, p.Counts)
		}
		r.do("DELETE", []string{plan.Indices[0].Target, "_doc", "0"}, "", nil)
		r.do("POST", []string{plan.Indices[0].Target, "_refresh"}, "", nil)
		r.tell(row.id, movement.Verify)
		if m, _ = r.work(row.id); m.State != movement.Held {
			t.Errorf("%d shards: one is missing: %s", row.shards, m.State)
		}
	}
}
