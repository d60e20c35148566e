package sim

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// deltaComes tells whether another movement is still to follow this one.
func (w *migration) deltaComes() bool {
	return w.script.Delta != "" && w.id == "m" && w.movement().State != movement.Aborted
}

// delta begins the movement that goes on from m, which has finished: in the same fleet, of
// which some processes perhaps still sleep with what they were to send for m in their hands.
func (w *migration) delta(m movement.Record) {
	if w.older != nil {
		return // in a moment
	}
	var report migrate.Progress
	if err := json.Unmarshal(m.Report, &report); err != nil {
		w.violate("L9", "the report is not understood: %v", err)
	}
	w.older = w.truth
	w.truth = w.repository.snapshots[0]
	if w.script.Delta == "forth" {
		w.truth = w.repository.snapshots[len(w.repository.snapshots)-1]
	}
	w.after(3*time.Second, func() {
		plan := w.truth.plan
		plan.Indices = slices.Clone(plan.Indices)
		for i := range plan.Indices {
			index := &plan.Indices[i]
			at := slices.IndexFunc(report.Indices, func(p migrate.IndexProgress) bool { return p.Source == index.Source && p.State == work.Done })
			if at >= 0 {
				index.Since = &migrate.Since{Movement: m.ID, Snapshot: w.older.plan.Snapshot, SnapshotUUID: w.older.plan.SnapshotUUID,
					Whole: !w.script.Into || index.Target != "loans", Lacking: report.Lacks(at)}
			}
		}
		w.since = map[string]bool{}
		for _, index := range plan.Indices {
			w.since[index.Source] = index.Since != nil
		}
		w.target.before = w.target.contents()
		w.operator.asked, w.operator.accepted = 0, false
		w.plan("d", plan)
	})
}

// gone tells whether a document was deleted in the source between the two snapshots.
func (w *migration) gone(index string, n name) bool {
	if !w.since[index] {
		return false
	}
	_, was := w.older.names(index)[n]
	_, is := w.truth.names(index)[n]
	return was && !is
}
