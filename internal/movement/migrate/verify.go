package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// Verified is what comparing one index has shown.
type Verified struct {
	Index    string           `json:"index"`
	Target   string           `json:"target"`
	Expected string           `json:"expected,omitempty"` // count and sum of the fingerprints, as the snapshot has them
	Found    string           `json:"found,omitempty"`    // as the target has them
	AsOf     time.Time        `json:"asOf,omitzero"`      // when the target was looked at, by the store's clock
	Result   reconcile.Report `json:"result"`
	// Others are documents of the target that the snapshot does not hold, in an index that
	// was there before: they are no differences.
	Others int64 `json:"others,omitempty"`
	// Steps are what those of the transformation have done to the documents of the snapshot.
	Steps transform.Tally `json:"steps,omitempty"`
	// Strict: documents that are newer on the target count as differences; see [Plan].
	Strict bool `json:"strict,omitempty"`
	// Absent: the target has no such index, so that each document of the snapshot is missing.
	Absent bool `json:"absent,omitempty"`
	// Unrefreshed: the credentials may not refresh the index. Documents that were written since its last
	// refresh were not compared.
	Unrefreshed bool `json:"unrefreshed,omitempty"`
	// UUID is that of the target's index; "" where the credentials may not read it, or there is none.
	UUID string `json:"uuid,omitempty"`
}

// Uncompared is an index that could not be compared, and why.
type Uncompared struct {
	Index  string `json:"index"`
	Target string `json:"target"`
	Cause  string `json:"cause"`
}

// Differences are those that count.
func (v *Verified) Differences() int64 {
	n := v.Result.Differences() - v.Others
	if v.Strict {
		n += v.Result.Counts[reconcile.Newer]
	}
	return n
}

// Differs tells whether both sides do, also where nobody has counted in how many documents.
func (v *Verified) Differs() bool { return v.Differences() > 0 || v.Result.Rest != nil }

// Some are the first examples of the differences, n of them unless more classes differ: the first of each class is among
// them. More: there are others. What others have written and is no difference is left out.
func (v *Verified) Some(n int) (some []reconcile.Example, more bool) {
	var further []reconcile.Example
	of := map[reconcile.Class]bool{}
	for _, e := range v.Result.Examples {
		switch {
		case e.Class == reconcile.Newer && !v.Strict || e.Class == reconcile.Ghost && v.Others > 0:
		case of[e.Class]:
			further = append(further, e)
		default:
			of[e.Class] = true
			some = append(some, e)
		}
	}
	fits := min(max(n-len(some), 0), len(further))
	some = append(some, further[:fits]...)
	slices.SortStableFunc(some, func(a, b reconcile.Example) int {
		return slices.Index(reconcile.Classes, a.Class) - slices.Index(reconcile.Classes, b.Class)
	})
	return some, fits < len(further)
}

// verify compares, index by index, what the snapshot holds with what the target holds.
func (t *turn) verify(ctx context.Context, phase *movement.Phase) (worker.Outcome, error) {
	run := work.Safe(phase.Key())
	made, err := worker.Single(ctx, t.Slot, t.movement, t.key("phase", run), t.plan.Policy, func(ctx context.Context) error {
		if err := t.forgetSights(ctx, phase); err != nil {
			return err
		}
		return t.makeChecks(ctx, "check/"+run, false)
	})
	if err != nil || !made.Done || made.Worked {
		return worker.Outcome{Worked: made.Worked, Failed: made.Failed, Piece: made.Piece, Text: made.Text}, err
	}
	checks, outcome, err := t.checks(ctx, "check/"+run, false)
	if err != nil || checks == nil {
		return outcome, err
	}
	return t.judge(ctx, checks)
}

// judge sums up what the checks, the items and the entries of the movement tell.
func (t *turn) judge(ctx context.Context, checks map[string]check) (worker.Outcome, error) {
	p, err := ProgressOf(ctx, t.Driver, t.movement)
	if err != nil {
		return worker.Outcome{}, err
	}
	outcome := verdict(p, checks, t.plan.AllowFailures)
	if outcome.Listed && t.compares() {
		outcome.Next = "mend the causes, then reshelve movement verify, which compares again; or send what differs with reshelve movement repair; " +
			"or accept what is listed with reshelve movement finish"
	}
	return outcome, nil
}

// compares tells whether the movement is a comparison of its own: it has made nothing, and no record tells
// what was there before.
func (t *turn) compares() bool { return t.movement.Kind == movement.Comparison }

// verdict is Done when everything was compared and nothing differs but, at most, so many
// documents as may fail; else it lists what is wrong, each with its cause.
func verdict(p *Progress, checks map[string]check, allowed int64) worker.Outcome {
	var wrong, differing []string
	var differ int64
	done := 0
	known := true
	for _, key := range slices.Sorted(maps.Keys(checks)) {
		c := checks[key]
		if c.State == work.Done {
			done++
		} else {
			wrong = append(wrong, fmt.Sprintf("%s could not be compared: %s", c.Index, c.Cause))
		}
		if c.Differs() {
			differ += c.Differences()
			known = known && c.Result.Rest == nil
			counts, _, _ := strings.Cut(c.Result.String(), "\n") // its examples are in the progress
			differing = append(differing, c.Index+": "+counts)
		}
	}
	for i := range p.Indices {
		index := &p.Indices[i]
		if index.State == work.Failed {
			wrong = append(wrong, index.Source+" was not moved: "+index.Cause)
			continue
		}
		for _, name := range index.comparisons() {
			if _, made := checks[work.Safe(name)]; !made {
				wrong = append(wrong, name+" was not compared: the record of the comparison is gone")
			}
		}
	}
	if p.Items.Failed > 0 {
		wrong = append(wrong, counted(p.Items.Failed, "items")+" failed"+mostly(p.failedFor))
	}
	text := counted(done, "indices") + " compared"
	if allowance := min(p.Failed, allowed); len(wrong) == 0 && known && differ <= allowance {
		if differ > 0 {
			return worker.Outcome{Worked: true, Done: true, Text: fmt.Sprintf("%s: %d documents differ, as allowed", text, differ)}
		}
		return worker.Outcome{Worked: true, Done: true, Text: text + ": no document is missing, stale or too many"}
	}
	return worker.Outcome{Worked: true, Listed: true, Text: text + "; " + strings.Join(append(some(wrong), some(differing)...), "; "),
		Next: "mend the causes, then reshelve movement redrive, or reshelve movement repair; or accept what is listed with reshelve movement finish; or take everything back with reshelve movement abort"}
}

// mostly is the most frequent of some causes, for the end of a sentence; "" when there is none.
func mostly(causes []string) string {
	times, most := map[string]int{}, ""
	for _, cause := range slices.Sorted(slices.Values(causes)) {
		if times[cause]++; most == "" || times[cause] > times[most] {
			most = cause
		}
	}
	switch {
	case most == "":
		return ""
	case len(times) > 1:
		return ": " + most + " (and other causes)"
	}
	return ": " + most
}

// some are the first of many: what people read at a glance. The progress tells all.
func some(all []string) []string {
	const most = 10
	if len(all) > most {
		return append(slices.Clone(all[:most]), fmt.Sprintf("and %d more", len(all)-most))
	}
	return all
}

// errDamaged names what of the snapshot could not be read.
func errDamaged(index string, shard int, err error) error {
	return fault.At(err, fmt.Sprintf("%s/%d", index, shard))
}
