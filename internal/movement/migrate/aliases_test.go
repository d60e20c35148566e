package migrate_test

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestAliasesComeLast: while the comparison finds differences, no alias leads to the index;
// when they are accepted, it does.
func TestAliasesComeLast(t *testing.T) {
	r := newRig(t, "elasticsearch-1.7.6-history", "two")
	plan := r.plan("ledger")
	r.do("PUT", []string{"ledger"}, `{"mappings":{"dynamic":"strict"}}`, nil) // every document is refused
	id := r.start(plan)
	if m, _ := r.work(id); m.State != movement.Held || r.has("_alias", "books") {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	r.tell(id, movement.Abort)
	if m, _ := r.work(id); m.State != movement.Aborted || !r.has("ledger") {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	r.do("DELETE", []string{"ledger"}, "", nil)
	m, _ := r.work(r.startAs("m2", plan))
	if m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	var aliases map[string]struct{ Aliases map[string]json.RawMessage }
	r.do("GET", []string{"_alias", "books"}, "", &aliases)
	if len(aliases) != 1 || aliases["ledger"].Aliases["books"] == nil {
		t.Errorf("the alias leads to %v", aliases)
	}
	if last := m.Phases[len(m.Phases)-1]; last.Name != "aliases" || last.Outcome != "1 alias made" {
		t.Errorf("told is %+v", last)
	}
}

// TestSettingsOfTheCopyArePutBack: what an index has only while it is filled.
func TestSettingsOfTheCopyArePutBack(t *testing.T) {
	for _, c := range []struct{ name, body, reduced, before string }{
		{"both", `{"settings":{"index.number_of_replicas":"2","index.refresh_interval":"30s"}}`,
			`{"settings":{"index.number_of_replicas":"0","index.refresh_interval":"-1"}}`, `{"index.number_of_replicas":"2","index.refresh_interval":"30s"}`},
		{"what is not set goes back to the default", `{"settings":{"index.number_of_replicas":"0"}}`,
			`{"settings":{"index.number_of_replicas":"0","index.refresh_interval":"-1"}}`, `{"index.refresh_interval":null}`},
		{"replicas that expand", `{"settings":{"index.auto_expand_replicas":"0-all","index.number_of_replicas":"0","index.refresh_interval":"-1"}}`,
			`{"settings":{"index.auto_expand_replicas":"false","index.number_of_replicas":"0","index.refresh_interval":"-1"}}`, `{"index.auto_expand_replicas":"0-all"}`},
		{"nothing to do", `{"settings":{"index.number_of_replicas":"0","index.refresh_interval":"-1"}}`, `{"settings":{"index.number_of_replicas":"0","index.refresh_interval":"-1"}}`, ""},
	} {
		m := migrate.Metadata{ReduceReplicas: true, ReduceRefresh: true}
		reduced, before, err := m.Reduce(json.RawMessage(c.body))
		if err != nil || string(reduced) != c.reduced || string(before) != c.before {
			t.Errorf("%s: %s, then %s, %v", c.name, reduced, before, err)
		}
	}
	for _, abort := range []bool{false, true} {
		r := newRig(t, streams, "only")
		plan := r.plan(".ds-loans-2024-000001")
		plan.Metadata = migrate.Metadata{ReduceReplicas: true, ReduceRefresh: true}
		id := r.start(plan)
		if m, _ := r.work(id); m.State != movement.Switched {
			t.Fatalf("%s: %s", m.State, m.Cause)
		}
		var shown map[string]struct{ Settings map[string]map[string]any }
		r.do("GET", []string{".ds-loans-2024-000001", "_settings"}, "", &shown)
		index := shown[".ds-loans-2024-000001"].Settings["index"]
		if _, set := index["refresh_interval"]; set || index["number_of_replicas"] != "0" {
			t.Errorf("afterwards the settings are %v", index)
		}
		ledger, err := r.driver.Ledger(t.Context(), id)
		kinds := map[string]int{}
		for _, e := range ledger {
			kinds[e.Kind]++
		}
		if err != nil || len(kinds) != 2 || kinds["index"] != 1 || kinds["alias"] != 1 {
			t.Errorf("the ledger holds %v, %v", ledger, err)
		}
		if abort {
			r.tell(id, movement.Abort)
			if m, _ := r.work(id); m.State != movement.Aborted || r.has(".ds-loans-2024-000001") {
				t.Errorf("%s: %s", m.State, m.Cause)
			}
		}
	}
}
