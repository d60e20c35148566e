package migrate_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
)

// equalise orders a repair that replaces and deletes, and works for it until the comparison that follows has ended.
func (r *rig) equalise(id string) (movement.Record, *migrate.Progress, string) {
	r.Helper()
	if _, _, err := r.driver.Apply(r.Context(), id, movement.Event{Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
		r.Fatal(err)
	}
	m, p := r.work(id)
	return m, p, phaseOf(&m, movement.RepairPhase)
}

// bulk writes as other clients do, and shows it to searches.
func (r *rig) bulk(lines ...string) {
	r.Helper()
	r.do(http.MethodPost, []string{"_bulk"}, strings.Join(lines, "\n")+"\n", nil)
	r.do(http.MethodPost, []string{"shelves", "_refresh"}, "", nil)
}

// TestARepairReplacesAndDeletesWhatWasCompared and nothing that was written since: what is new, what was replaced, and what
// was too many and was written again. The comparison that follows lists those, and a repair by that makes both sides equal.
func TestARepairReplacesAndDeletesWhatWasCompared(t *testing.T) {
	for name, begin := range map[string]func(r *rig) string{
		"of a migration": func(r *rig) string {
			r.tell("m1", movement.Verify)
			r.work("m1")
			return "m1"
		},
		"of a comparison of its own": func(r *rig) string {
			plan := r.plan("shelves")
			plan.Strict = true
			r.compare("c1", plan)
			return "c1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "elasticsearch-7.10.2-basic", "second")
			r.work(r.start(r.plan("shelves")))
			r.bulk(`{"index":{"_index":"shelves","_id":"ghost"}}`, `{}`,
				`{"index":{"_index":"shelves","_id":"ghost-2","routing":"a"}}`, `{}`,
				`{"index":{"_index":"shelves","_id":"b-1","version":99,"version_type":"external"}}`, `{"by":"others"}`,
				`{"index":{"_index":"shelves","_id":"b-7","version":99,"version_type":"external"}}`, `{"by":"others"}`)
			id := begin(r)
			r.bulk(`{"index":{"_index":"shelves","_id":"precious"}}`, `{}`,
				`{"index":{"_index":"shelves","_id":"ghost-2","routing":"a"}}`, `{"written":"again"}`,
				`{"index":{"_index":"shelves","_id":"b-3","version":99,"version_type":"external"}}`, `{"by":"others"}`,
				`{"index":{"_index":"shelves","_id":"b-7","version":100,"version_type":"external"}}`, `{"by":"others, again"}`)
			m, p, said := r.equalise(id)
			if got := differences(p); m.State == movement.Finished || got[reconcile.Ghost] != 2 || got[reconcile.Newer] != 2 {
				t.Errorf("it is %s: %v", m.State, got)
			}
			if r.has("shelves", "_doc", "ghost") || !r.has("shelves", "_doc", "precious") {
				t.Error("it has left what it was to delete, or deleted what came later")
			}
			if !strings.HasPrefix(said, "1 document sent again, 1 deleted, 4 are not as the comparison before the repair saw them, and are left so (") || !strings.Contains(said, `"precious"`) {
				t.Error(said)
			}
			if m, p, said = r.equalise(id); len(differences(p)) != 0 || p.Verified[0].Expected != p.Verified[0].Found {
				t.Errorf("repaired by that, it is %s: %v: %s", m.State, differences(p), said)
			}
		})
	}
}

// TestARepairOfAnotherIndex than that which was compared, under its name, changes nothing in it.
func TestARepairOfAnotherIndex(t *testing.T) {
	r := newRig(t, "elasticsearch-7.10.2-basic", "second")
	r.put("shelves", `{}`)
	send(t, r.url+"/shelves/_doc/ghost", `{}`)
	plan := r.plan("shelves")
	plan.Strict = true
	if m, p := r.compare("c1", plan); m.State != movement.Held || differences(p)[reconcile.Ghost] != 2 || p.Verified[0].UUID == "" {
		t.Fatalf("it is %s: %+v", m.State, p.Verified)
	}
	r.do(http.MethodDelete, []string{"shelves"}, "", nil)
	send(t, r.url+"/shelves/_doc/fresh", `{}`)
	m, p, said := r.equalise("c1")
	if !strings.Contains(said, "shelves could not be repaired: index shelves is not the one that was compared") || !strings.Contains(said, "reshelve movement verify c1") {
		t.Errorf("it is %s: %s", m.State, said)
	}
	if r.holds("shelves") != 1 || !r.has("shelves", "_doc", "fresh") || differences(p)[reconcile.Ghost] != 1 {
		t.Errorf("it was changed: %v", differences(p))
	}
	if _, p, said = r.equalise("c1"); differences(p)[reconcile.Ghost] != 0 || !strings.HasPrefix(said, "61 documents sent again, 1 deleted") { // which was compared meanwhile
		t.Errorf("%v: %s", differences(p), said)
	}
}

// crammed is a library with documents too many, and without some, that was compared; the worker that compared it was killed,
// unless that is nil.
func crammed(t *testing.T, extra int, killed *mortal) *library {
	t.Helper()
	l := newLibrary(t)
	l.target.pages, l.crawls = false, 0 // nothing takes time
	for n := range extra {
		write(t, l.copied.target, fmt.Sprintf("too-many-%02d", n), `{"by":"others"}`)
	}
	l.remove(2, 1)
	l.tell("m", movement.Verify)
	if killed != nil {
		l.runs(killed)
	}
	l.runs(nil)
	if _, _, err := l.driver.Apply(t.Context(), "m", movement.Event{Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestWhatWasSeenOutlivesItsWorkers: whenever a worker that compares is killed, the comparison keeps what it has seen, and
// the repair does all of that.
func TestWhatWasSeenOutlivesItsWorkers(t *testing.T) {
	const extra = 5
	died := 0
	for n := int64(1); n <= 12; n++ {
		inTime(t, func(t *testing.T) {
			killed := &mortal{dies: n, after: n%2 == 0}
			l := crammed(t, extra, killed)
			if killed.dead.Load() {
				died++
			}
			l.runs(nil)
			said := l.outcome(movement.RepairPhase)
			if v, _ := l.proved(); !strings.HasSuffix(said, fmt.Sprintf("sent again, %d deleted", extra)) || v.Result.Differences() != 0 {
				t.Errorf("killed at change %d: %s: %+v", n, said, v.Result)
			}
		})
	}
	if died < 8 {
		t.Errorf("%d times it was killed", died)
	}
}

// reluctant is a coordination store that does not take what was seen for the first time.
type reluctant struct {
	coord.Store
	refused atomic.Bool
}

func (r *reluctant) Create(ctx context.Context, key string, value []byte) (int64, error) {
	if strings.Contains(key, "/seen/") && !r.refused.Swap(true) {
		return 0, fault.New(fault.Corrupt, "it cannot be written")
	}
	return r.Store.Create(ctx, key, value)
}

// TestAPassThatIsKeptNowhere has not ended: whoever goes on reads it again.
func TestAPassThatIsKeptNowhere(t *testing.T) {
	inTime(t, func(t *testing.T) {
		l := newLibrary(t)
		write(t, l.copied.target, "too-many", `{"by":"others"}`)
		store := &reluctant{Store: l.store}
		l.store = store
		l.target.pages = false
		l.tell("m", movement.Verify)
		l.runs(nil)
		if v, _ := l.proved(); v.Result.Differences() != 1 || !store.refused.Load() {
			t.Errorf("%+v\n%s", v, l.log)
		}
		if _, _, err := l.driver.Apply(t.Context(), "m", movement.Event{Verb: movement.Repair, By: "ann", DeleteExtra: true}); err != nil {
			t.Fatal(err)
		}
		l.runs(nil)
		if said := l.outcome(movement.RepairPhase); said != "0 documents sent again, 1 deleted" {
			t.Error(said)
		}
	})
}

// TestTheAccountOfARepairOutlivesItsWorkers: whenever one is killed, what it has sent and deleted is counted; or, where the
// target forgets the point in time at which it was read, before or while another goes on there, the account says that there
// may be more.
func TestTheAccountOfARepairOutlivesItsWorkers(t *testing.T) {
	const extra = 5
	const never, before, meanwhile = 0, 1, 2
	outlived, atLeast := 0, [3]int{}
	for n := range 90 {
		dies, after, forgets := int64(n/6+4), n/3%2 == 0, n%3
		inTime(t, func(t *testing.T) {
			l := crammed(t, extra, nil)
			v, _ := l.proved()
			gone := v.Result.Counts[reconcile.Missing]
			killed := &mortal{dies: dies, after: after}
			l.runs(killed)
			if m, _ := l.look("m"); killed.dead.Load() && !slices.ContainsFunc(m.Phases, func(p movement.Phase) bool { return p.Name == movement.RepairPhase && !p.Ended.IsZero() }) {
				outlived++
			}
			whole := l.target.to
			forgotten := sync.OnceFunc(func() {
				whole.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/_search/point_in_time/_all", nil))
			})
			switch forgets {
			case before:
				forgotten()
			case meanwhile:
				l.target.to = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/_reshelve/rows" {
						forgotten()
					}
					whole.ServeHTTP(w, r)
				})
			}
			l.runs(nil)
			want := fmt.Sprintf("%d documents sent again, %d deleted", gone, v.Result.Counts[reconcile.Ghost])
			said := l.outcome(movement.RepairPhase)
			if forgets != never && strings.Contains(said, ", at least ") {
				atLeast[forgets]++
				return
			}
			if said != want || gone+v.Result.Counts[reconcile.Ghost] != extra+2 {
				t.Errorf("killed at change %d (after it: %v), forgotten %d: %q, want %q", dies, after, forgets, said, want)
			}
		})
	}
	if outlived < 40 || atLeast[before] < 1 || atLeast[meanwhile] < 1 {
		t.Errorf("%d times it was killed before the repair had ended, and its account was incomplete %v times", outlived, atLeast)
	}
}
