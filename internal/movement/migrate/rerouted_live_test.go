package migrate_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// TestLiveADocumentThatIsRerouted between two snapshots is on the target with its new routing, and
// only so: where that is the same place of the target, as in an index of one shard, and where it is not.
// What others have made of one such is left.
func TestLiveADocumentThatIsRerouted(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	target, err := cluster.New(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	p := &copied{t: t, target: target, url: server.URL, repository: filepath.Join(server.Repos, "r")}
	ask := func(method string, path []string, params url.Values, body string) {
		t.Helper()
		if _, err := target.Do(t.Context(), method, path, params, []byte(body)); err != nil {
			t.Fatal(method, path, err)
		}
	}
	put := func(index, id, routing, body string) {
		t.Helper()
		ask(http.MethodPut, []string{index, "_doc", id}, url.Values{"routing": {routing}, "refresh": {"true"}}, body)
	}
	snap := func(name string) {
		t.Helper()
		ask(http.MethodPut, []string{"_snapshot", "r", name}, url.Values{"wait_for_completion": {"true"}}, `{"indices":"before","include_global_state":false}`)
	}
	ask(http.MethodPut, []string{"before"}, nil, `{"settings":{"number_of_shards":1,"number_of_replicas":0}}`)
	ask(http.MethodPut, []string{"_snapshot", "r"}, nil, fmt.Sprintf(`{"type":"fs","settings":{"location":%q}}`, p.repository))
	for n := range 40 {
		put("before", fmt.Sprint(n), "A", `{"n":1}`)
	}
	snap("one")
	for n := range 20 {
		put("before", fmt.Sprint(n), "B", fmt.Sprintf(`{"n":%d}`, 1+n%2)) // of every other the routing alone
	}
	snap("two")
	for _, shards := range []int{1, 7} {
		index := fmt.Sprint("copy-", shards)
		ask(http.MethodPut, []string{index}, nil, fmt.Sprintf(`{"settings":{"number_of_shards":%d,"number_of_replicas":0}}`, shards))
		p.driver = drive.New(coord.New(), 0)
		into := func(plan *migrate.Plan) { plan.Indices[0].Target, plan.IntoExisting = index, true }
		p.moves("full", "one", into)
		put(index, "0", "A", theirs)
		plan := p.plan("two")
		into(&plan)
		since("full", "one")(&plan)
		p.start("delta", plan)
		m, progress := p.work("delta")
		if m.State != movement.Held {
			t.Errorf("%d shards: it is %s: %s", shards, m.State, m.Cause)
		}
		for _, i := range progress.Indices {
			if len(i.Changed.Others) == 0 || i.Changed.Others[0].ID != "0" {
				t.Errorf("%d shards: %+v", shards, i.Changed)
			}
		}
		for n := range 20 {
			found, err := target.Look(t.Context(), []cluster.Name{{Index: index, ID: fmt.Sprint(n), Routing: "B"}, {Index: index, ID: fmt.Sprint(n), Routing: "A"}})
			if err != nil {
				t.Fatal(err)
			}
			isNew := found[0].Found && found[0].Routing == "B" && string(found[0].Source) == fmt.Sprintf(`{"n":%d}`, 1+n%2)
			isOld := found[1].Found && found[1].Routing == "A"
			switch {
			case n == 0:
				if !isOld || string(found[1].Source) != theirs {
					t.Errorf("%d shards: what others have written is %+v", shards, found)
				}
			case !isNew || isOld:
				t.Errorf("%d shards, document %d: %+v", shards, n, found)
			}
		}
	}
}
