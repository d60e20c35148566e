package control

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// finished is a migration of three indices that has finished: one was made, one was there before, and one went on from what
// movements alone had brought.
func finished(t *testing.T, change func(*migrate.Plan)) *movement.Record {
	t.Helper()
	plan := migrate.Plan{Repository: "/r", SnapshotUUID: "U", Target: "http://t", IntoExisting: true, AllowFailures: 3,
		Indices: []migrate.Index{{Source: "made", Target: "made"}, {Source: "there", Target: "there"}, {Source: "delta", Target: "delta", Since: &migrate.Since{Whole: true}}}}
	change(&plan)
	var report migrate.Progress
	for _, index := range plan.Indices {
		report.Indices = append(report.Indices, migrate.IndexProgress{Index: index, Existed: index.Source != "made"})
	}
	m := &movement.Record{ID: "m1", Kind: movement.Migrate, State: movement.Finished}
	var err error
	if m.Plan, err = json.Marshal(plan); err == nil {
		m.Report, err = json.Marshal(report)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWhatHasFinishedIsComparedAgain as its movement compared it: others' documents count where the index was the movement's.
func TestWhatHasFinishedIsComparedAgain(t *testing.T) {
	plan, err := comparisonOf(finished(t, func(*migrate.Plan) {}))
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]bool{}
	for _, index := range plan.Indices {
		shared[index.Source] = index.Shared
		if index.Since != nil {
			t.Errorf("%s is still a delta", index.Source)
		}
	}
	if shared["made"] || !shared["there"] || shared["delta"] || plan.Strict || plan.Of != "m1" || plan.AllowFailures != 0 {
		t.Errorf("%+v, shared %v", plan, shared)
	}
	_, err = comparisonOf(finished(t, func(p *migrate.Plan) { p.Indices[0].Stream = &migrate.InStream{Name: "made"} }))
	if !fault.Is(err, fault.Refused) || !strings.HasPrefix(fault.Next(err), "compare each index: reshelve verify --from /r --snapshot U --to http://t --index made --rename 'made=") {
		t.Errorf("of a data stream: %v → %s", err, fault.Next(err))
	}
}

// TestWhereAComparisonIsRecorded: never on a cluster, unless that is asked for.
func TestWhereAComparisonIsRecorded(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	place := func(target, coordinate string) string {
		at, err := (&CompareRequest{Selection: Selection{Repository: "/r"}, Target: target, Coordinate: coordinate}).Place()
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	own := place("http://t", "")
	if !strings.HasPrefix(own, "local:"+filepath.Join(state, "reshelve", "verify-")) || own != place("http://u:secret@t", "auto") || own == place("http://other", "") {
		t.Errorf("of a cluster: %s, %s, %s", own, place("http://u:secret@t", "auto"), place("http://other", ""))
	}
	for want, got := range map[string]string{"./data": place("./data", "auto"), "http://t": place("http://t", "target"), "local:x": place("http://t", "local:x")} {
		if got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
}

// TestARepairDeletesNothingThatASnapshotCannotJudge: of one that is not complete, nothing shows what it would have held.
func TestARepairDeletesNothingThatASnapshotCannotJudge(t *testing.T) {
	whole, partial := migrate.Plan{Indices: []migrate.Index{{Source: "one"}}}, migrate.Plan{AllowPartial: true}
	stream := migrate.Plan{Indices: []migrate.Index{{Source: "one", Stream: &migrate.InStream{Name: "logs"}}}}
	for _, c := range []struct {
		plan  *migrate.Plan
		order Order
		is    bool
	}{
		{&whole, Order{Overwrite: true, DeleteExtra: true}, true},
		{&partial, Order{DeleteExtra: true}, false},
		{&partial, Order{Overwrite: true}, true},
		{&stream, Order{Overwrite: true}, false},
		{&stream, Order{}, true},
	} {
		if err := c.order.repairable(c.plan); (err == nil) != c.is || err != nil && (!fault.Is(err, fault.Refused) || fault.Next(err) == "") {
			t.Errorf("%+v of %+v: %v", c.order, c.plan, err)
		}
	}
}
