package migrate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestTheOlderSnapshotMayTakeLongerThanALease to read, whose documents a repair of a delta has to know: what was read of
// it in one lease is known in the next, and what the target holds of it is replaced.
func TestTheOlderSnapshotMayTakeLongerThanALease(t *testing.T) {
	for _, crawls := range []time.Duration{150, 180, 210} {
		inTime(t, func(t *testing.T) {
			l := emptyLibrary(t)
			only := func(plan migrate.Plan) migrate.Plan {
				plan.Policy = short
				plan.Indices = slices.DeleteFunc(plan.Indices, func(i migrate.Index) bool { return i.Source != "shelves" })
				return plan
			}
			l.start("full", only(l.plan("first")))
			l.runsFor("full", nil)
			was, is := l.held("first", "shelves"), l.held("second", "shelves")
			delta := only(l.plan("second"))
			since("full", "first")(&delta)
			l.start("m", delta)
			l.runs(nil)
			id := pick(t, was, is, isChanged)
			_, older, _ := strings.Cut(was[id+"/"], " ")
			write(t, l.copied.target, id, older)
			l.crawls = crawls * time.Millisecond
			l.tell("m", movement.Repair)
			l.runs(nil)
			if said := l.outcome(movement.RepairPhase); said != "1 document sent again" {
				t.Errorf("%dms: %s\n%s", crawls, said, l.log)
			}
			if v, proved := l.proved(); !proved {
				t.Errorf("%dms: %+v", crawls, v)
			}
		})
	}
}
