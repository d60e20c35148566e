package migrate_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// compare stores a comparison of its own, and works for it.
func (r *rig) compare(id string, p migrate.Plan) (movement.Record, *migrate.Progress) {
	r.Helper()
	body, err := json.Marshal(p)
	if err != nil {
		r.Fatal(err)
	}
	m := movement.Record{ID: id, Kind: movement.Comparison, State: movement.Planned, Plan: body, Phases: migrate.ComparisonPhases(), Created: time.Now()}
	if err := r.driver.Plan(r.Context(), m); err != nil {
		r.Fatal(err)
	}
	r.tell(id, movement.Start)
	return r.work(id)
}

// differences are the classes that a comparison of one index has found.
func differences(p *migrate.Progress) map[reconcile.Class]int64 {
	if len(p.Verified) != 1 {
		return nil
	}
	return p.Verified[0].Result.Counts
}

// TestAComparisonOfItsOwn needs no movement before it: it finds what a target that somebody else has filled lacks, and has
// beside, until nothing differs. Versions need not be equal.
func TestAComparisonOfItsOwn(t *testing.T) {
	r := newRig(t, "elasticsearch-7.10.2-basic", "second")
	plan := r.plan("shelves")
	plan.Strict = true
	m, p := r.compare("c1", plan)
	if m.State != movement.Held || !m.Listed || !p.Verified[0].Absent || differences(p)[reconcile.Missing] != p.Verified[0].Differences() || p.Verified[0].Differences() == 0 {
		t.Fatalf("without the index it is %s: %s: %+v", m.State, m.Cause, p.Verified)
	}
	missing := p.Verified[0].Differences()

	noVersions := r.plan("shelves")
	noVersions.NoVersions = true // as most tools copy
	r.work(r.start(noVersions))
	if m, p := r.compare("c2", plan); m.State != movement.Finished || p.Verified[0].Differs() || p.Verified[0].Expected != p.Verified[0].Found {
		t.Fatalf("with all of it, it is %s: %s: %+v", m.State, m.Cause, p.Verified)
	}

	r.do(http.MethodPut, []string{"shelves", "_doc", "extra"}, `{}`, nil)
	r.do(http.MethodDelete, []string{"shelves", "_doc", "b-3"}, "", nil)
	r.do(http.MethodPost, []string{"_bulk"}, `{"index":{"_index":"shelves","_id":"b-1","version":99,"version_type":"external"}}`+"\n{}\n", nil)
	m, p = r.compare("c3", plan)
	if got := differences(p); m.State != movement.Held || got[reconcile.Ghost] != 1 || got[reconcile.Missing] != 1 || got[reconcile.Newer] != 1 || p.Verified[0].Differences() != 3 {
		t.Fatalf("it is %s: %v", m.State, got)
	}
	if _, _, err := r.driver.Apply(t.Context(), "c3", movement.Event{Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
		t.Fatal(err)
	}
	if m, p = r.work("c3"); m.State != movement.Finished || p.Verified[0].Differs() {
		t.Errorf("repaired, it is %s: %s: %+v", m.State, m.Cause, p.Verified)
	}
	var aliases map[string]struct{ Aliases map[string]any }
	if r.do(http.MethodGet, []string{"shelves", "_alias"}, "", &aliases); len(aliases["shelves"].Aliases) > 1 { // m1, whose way back is open, has one
		t.Errorf("the repair has left %v", aliases)
	}

	r.do(http.MethodPut, []string{"shelves", "_doc", "extra"}, `{}`, nil)
	r.do(http.MethodDelete, []string{"shelves", "_doc", "b-3"}, "", nil)
	shared := plan
	shared.Strict, shared.Indices = false, slices.Clone(plan.Indices)
	shared.Indices[0].Shared = true
	if _, p := r.compare("c4", shared); p.Verified[0].Differences() != 1 {
		t.Errorf("where others write, too: %v", p.Verified[0].Differences())
	}
	t.Logf("%d documents", missing)
}

// TestToCompareReadsAlone needs no other right than that to read, and makes nothing.
func TestToCompareReadsAlone(t *testing.T) {
	r := newRig(t, "elasticsearch-7.10.2-basic", "second")
	r.work(r.start(r.plan("shelves")))
	if _, _, err := r.driver.Apply(t.Context(), "m1", movement.Event{Verb: movement.Finish, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	r.work("m1")
	at, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(at)
	var refused []string
	reader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		may := q.URL.Path == "/" || strings.HasSuffix(q.URL.Path, "/_search") || strings.HasSuffix(q.URL.Path, "/_count") || strings.HasSuffix(q.URL.Path, "/_search/point_in_time")
		switch {
		case q.URL.Path == "/": // as an OpenSearch, which is read by searches
			_, _ = io.WriteString(w, `{"cluster_name":"c","version":{"distribution":"opensearch","number":"2.19.0"}}`)
		case !may:
			refused = append(refused, q.Method+" "+q.URL.Path)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":{"type":"security_exception","reason":"no permissions"},"status":403}`)
		default:
			behind.ServeHTTP(w, q)
		}
	}))
	defer reader.Close()
	client, err := cluster.New(reader.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.lane = &migrate.Lane{Open: r.lane.Open, Reach: func(context.Context, string) (*cluster.Client, error) { return client, nil }}
	m, p := r.compare("c1", r.plan("shelves"))
	if m.State != movement.Finished || p.Verified[0].Differs() || !p.Verified[0].Unrefreshed {
		t.Errorf("it is %s: %s: %+v", m.State, m.Cause, p.Verified)
	}
	t.Log(refused)
}

// TestARepairThatOverwrites makes both sides equal, whatever others have written, and brings back what they have deleted in a
// newer version, which the target remembers.
func TestARepairThatOverwrites(t *testing.T) {
	r := newRig(t, "elasticsearch-7.10.2-basic", "second")
	r.work(r.start(r.plan("shelves")))
	bulk := func(lines string) {
		r.do(http.MethodPost, []string{"_bulk"}, lines, nil)
		r.do(http.MethodPost, []string{"shelves", "_refresh"}, "", nil)
	}
	spoil := func(version string) {
		bulk(`{"index":{"_index":"shelves","_id":"extra"}}` + "\n{}\n" +
			`{"index":{"_index":"shelves","_id":"routed","routing":"a"}}` + "\n{}\n" +
			`{"index":{"_index":"shelves","_id":"b-1","version":` + version + `,"version_type":"external"}}` + "\n{}\n" +
			`{"delete":{"_index":"shelves","_id":"b-3","version":` + version + `,"version_type":"external"}}` + "\n")
	}
	spoil("99")
	r.tell("m1", movement.Repair)
	m, p := r.work("m1")
	if got := differences(p); m.State != movement.Held || got[reconcile.Ghost] != 2 || got[reconcile.Missing] != 1 || got[reconcile.Newer] != 1 {
		t.Fatalf("after a plain repair it is %s: %v", m.State, got)
	}
	if _, _, err := r.driver.Apply(t.Context(), "m1", movement.Event{Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
		t.Fatal(err)
	}
	m, p = r.work("m1")
	if got := differences(p); m.State != movement.Switched || len(got) != 0 || p.Verified[0].Expected != p.Verified[0].Found {
		t.Fatalf("it is %s: %s: %v", m.State, m.Cause, got)
	}
	if i := slices.IndexFunc(m.Phases, func(p movement.Phase) bool { return p.Overwrite && p.DeleteExtra }); i < 0 ||
		!strings.HasPrefix(m.Phases[i].Outcome, "2 documents sent again, 2 deleted") {
		t.Errorf("%+v", m.Phases)
	}

	// One of the two alone does its part.
	spoil("999")
	r.tell("m1", movement.Verify)
	r.work("m1")
	for _, e := range []movement.Event{{Verb: movement.Repair, By: "ann", DeleteExtra: true}, {Verb: movement.Repair, By: "bob", Overwrite: true}} {
		if _, _, err := r.driver.Apply(t.Context(), "m1", e); err != nil {
			t.Fatal(err)
		}
		m, p = r.work("m1")
		got := differences(p)
		if e.DeleteExtra && (got[reconcile.Ghost] != 0 || got[reconcile.Newer] != 1 || got[reconcile.Missing] != 1) || e.Overwrite && len(got) != 0 {
			t.Errorf("after %s: %s: %v", e, m.State, got)
		}
	}
}

// TestWhatIsTooManyIsDeletedAsItWasSeen: a document that another client has changed since the comparison read it stays, and
// the comparison that follows finds it.
func TestWhatIsTooManyIsDeletedAsItWasSeen(t *testing.T) {
	r := newRig(t, "elasticsearch-7.10.2-basic", "second")
	var refreshes atomic.Int64
	refreshes.Store(-1) // no repair has begun
	direct := r.url
	r.through(func(q *http.Request, _ string) {
		if refreshes.Load() >= 0 && strings.HasSuffix(q.URL.Path, "/_refresh") {
			if refreshes.Add(1) == 2 { // the first is of the repair's comparison, the second comes before the deletions
				send(t, direct+"/shelves/_doc/changed", `{"by":"another client"}`)
			}
		}
	})
	r.work(r.start(r.plan("shelves")))
	send(t, direct+"/shelves/_doc/extra", `{}`)
	send(t, direct+"/shelves/_doc/changed", `{}`)
	r.tell("m1", movement.Verify)
	if m, p := r.work("m1"); m.State != movement.Held || differences(p)[reconcile.Ghost] != 2 {
		t.Fatalf("it is %s: %v", m.State, differences(p))
	}
	refreshes.Store(0)
	if _, _, err := r.driver.Apply(t.Context(), "m1", movement.Event{Verb: movement.Repair, By: "ann", DeleteExtra: true}); err != nil {
		t.Fatal(err)
	}
	m, p := r.work("m1")
	if m.State != movement.Held || differences(p)[reconcile.Ghost] != 1 || r.has("shelves", "_doc", "extra") || !r.has("shelves", "_doc", "changed") {
		t.Errorf("after %d refreshes it is %s: %v", refreshes.Load(), m.State, differences(p))
	}
}

// send puts a document.
func send(t *testing.T, url, body string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	if err != nil || answer.StatusCode >= 300 {
		t.Error(answer, err)
		return
	}
	_ = answer.Body.Close()
}
