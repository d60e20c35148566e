package cli

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
)

// TestOutcomes: what a movement has come to, as the exit code of the verbs that wait for it.
func TestOutcomes(t *testing.T) {
	found := func(class reconcile.Class, failed int64) *migrate.Progress {
		p := &migrate.Progress{Verified: []migrate.Verified{{Result: reconcile.Report{Counts: map[reconcile.Class]int64{class: 1}}}}}
		p.Failed = failed
		return p
	}
	strict, uncounted := found(reconcile.Newer, 0), found(reconcile.Newer, 0)
	strict.Verified[0].Strict, uncounted.Verified[0].Result.Rest = true, &reconcile.Rest{Buckets: 1}
	for _, c := range []struct {
		name     string
		state    movement.State
		progress *migrate.Progress
		code     int
	}{
		{"one is newer, and that counts", movement.Held, strict, 6},
		{"some differ, and nobody has counted them", movement.Held, uncounted, 6},
		{"all is there", movement.Finished, &migrate.Progress{}, 0},
		{"others have written since", movement.Finished, found(reconcile.Newer, 0), 0},
		{"a piece has failed", movement.Held, &migrate.Progress{}, 9},
		{"one is missing", movement.Held, found(reconcile.Missing, 0), 6},
		{"one is missing, and the way back is open", movement.Switched, found(reconcile.Missing, 0), 6},
		{"one is missing, and that was accepted", movement.Finished, found(reconcile.Missing, 0), 6},
		{"as many failed as may", movement.Finished, found(reconcile.Unreadable, 1), 10},
		{"it is compared again", movement.Running, found(reconcile.Missing, 0), 130},
		{"its record is damaged", movement.Damaged, nil, 4},
		{"a newer release wrote its record", movement.Newer, nil, 5},
		{"it is undone", movement.Aborted, found(reconcile.Missing, 0), 8},
	} {
		m := &control.Movement{Record: movement.Record{ID: "M", State: c.state, Next: "mend it, then reshelve movement resume; or abort"}, Progress: c.progress}
		code := 0
		if err := outcomeOf(m, "./data"); err != nil {
			code = fault.KindOf(err).ExitCode()
		}
		if code != c.code {
			t.Errorf("%s: %d instead of %d", c.name, code, c.code)
		}
		next := fault.Next(outcomeOf(m, "./data"))
		for _, order := range strings.Split(next, "reshelve movement ")[1:] {
			if verb, rest, _ := strings.Cut(order, " "); !strings.HasPrefix(rest, "M --at ./data") {
				t.Errorf("%s: %q cannot be given as it stands: %s", c.name, verb, next)
			}
		}
	}
}

// TestOutcomesOfBothWays: of a movement that is led back, what the way back has shown counts.
func TestOutcomesOfBothWays(t *testing.T) {
	var differs control.ReshapedWay
	differs.Compared.Counts = map[reconcile.Class]int64{reconcile.Missing: 1}
	for code, r := range map[int]*control.Reshaping{6: {Back: &differs}, 9: {Way: differs, Back: &control.ReshapedWay{}}} {
		m := &control.Movement{Record: movement.Record{ID: "M", State: movement.Held}, Reshaping: r}
		if got := fault.KindOf(outcomeOf(m, "./data")).ExitCode(); got != code {
			t.Errorf("%d instead of %d", got, code)
		}
	}
}
