package migrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// Mended is what became of the documents of an index that a repair has sent again.
type Mended struct {
	work.Counts // Conflicts are those of Gone and Unseen, too
	// Gone were deleted on the target, in a version that is not older than the snapshot's.
	Gone int64 `json:"gone,omitempty"`
	// Unseen differ, and were not compared one by one, where no version tells whose they are: they are left.
	Unseen  int64 `json:"unseen,omitempty"`
	Deleted int64 `json:"deleted,omitempty"` // they had been deleted in the source, and come back; or are too many, and that was asked for
	Kept    int64 `json:"kept,omitempty"`    // of such: others have changed them since
	// Since were to be replaced or deleted, and are not what the comparison before the repair saw: they are left.
	Since int64 `json:"since,omitempty"`
	// Uncounted: more were deleted than Deleted, by a worker that has not written it down.
	Uncounted bool `json:"uncounted,omitempty"`
	// Cause is why one of those failed that did.
	Cause string `json:"cause,omitempty"`
	// Others names the first of those that others have written since.
	Others []Other `json:"others,omitempty"`
}

func (m *Mended) add(o *Mended) {
	m.Add(o.Counts)
	m.Others = addOthers(m.Others, o.Others)
	m.Gone, m.Unseen, m.Deleted, m.Kept = m.Gone+o.Gone, m.Unseen+o.Unseen, m.Deleted+o.Deleted, m.Kept+o.Kept
	m.Since, m.Uncounted = m.Since+o.Since, m.Uncounted || o.Uncounted
	m.Cause = cmp.Or(m.Cause, o.Cause)
}

// String is for people, with what they can do.
func (m *Mended) String() string {
	text := counted(int(m.Acknowledged), "documents") + " sent again"
	switch {
	case m.Uncounted:
		text += fmt.Sprintf(", at least %d deleted (a worker ended before it had counted its own)", m.Deleted)
	case m.Deleted > 0:
		text += fmt.Sprintf(", %d deleted", m.Deleted)
	}
	if m.Since > 0 {
		text += fmt.Sprintf(", %d are not as the comparison before the repair saw them, and are left so%s", m.Since, named(m.Others, writtenSince))
	}
	if others := m.Conflicts - m.Gone - m.Unseen + m.Kept; others > 0 {
		text += fmt.Sprintf(", %d were changed on the target since, and are left so%s", others, named(m.Others, changedByOthers))
	}
	text += overwritten(m.Others)
	if m.Unseen > 0 {
		text += fmt.Sprintf(", %d differ and were not compared one by one, and are left so%s: repair again, which compares them", m.Unseen, named(m.Others, notCompared))
	}
	if m.Gone > 0 {
		text += fmt.Sprintf(", %d were deleted on the target since, in a newer version, and stay deleted: accept that with reshelve movement finish; "+
			"or to have them back, repair again when the target has forgotten the deletions (its index.gc_deletes, a minute unless set), or with --overwrite", m.Gone)
	}
	if m.Failed > 0 {
		text += fmt.Sprintf(", %d failed again, one of them: %s", m.Failed, m.Cause)
	}
	return text
}

// overwritten names those that were replaced; "" when there are none.
func overwritten(all []Other) (text string) {
	if ids := named(all, replaced); ids != "" {
		text = ", others wrote some in the moment in which these were created again, and they were replaced" + ids
	}
	if ids := named(all, perhapsReplaced); ids != "" {
		text += ", of some that were created again the answer was lost, which would have told whether others wrote them in that moment and were replaced" + ids
	}
	return text
}

// named are the ids of the documents to which something happened, in brackets; "" when there are none.
func named(all []Other, what ...string) string {
	const most = 5
	var ids []string
	for _, o := range all {
		if slices.Contains(what, o.What) && len(ids) < most {
			ids = append(ids, strconv.Quote(o.ID))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return " (" + strings.Join(ids, ", ") + ")"
}

// repair compares both sides, and sends again what is missing, stale or different on the
// target. What is there and should not be is left alone, unless a delta has deleted it: the
// movement did not bring it; or that is asked for. Each index is a piece, which all workers may do.
func (t *turn) repair(ctx context.Context, phase *movement.Phase) (worker.Outcome, error) {
	run := work.Safe(phase.Key())
	var pieces map[string]check
	for _, stage := range []func(context.Context) (worker.Outcome, error){
		t.stage(run, "open", func(ctx context.Context) error { return t.makeChecks(ctx, "repair/"+run, true) }),
		func(ctx context.Context) (outcome worker.Outcome, err error) {
			pieces, outcome, err = t.checks(ctx, "repair/"+run, true)
			outcome.Done = pieces != nil
			return outcome, err
		},
		t.stage(run, "refresh", t.refresh),
	} {
		if outcome, err := stage(ctx); err != nil || !outcome.Done {
			return outcome, err
		}
	}
	return worker.Outcome{Worked: true, Done: true, Text: repaired(pieces)}, nil
}

// repaired says what came of it.
func repaired(pieces map[string]check) string {
	var sum Mended
	undone := ""
	for _, name := range slices.Sorted(maps.Keys(pieces)) {
		piece := pieces[name]
		sum.add(&piece.Mended)
		if piece.State == work.Failed {
			undone += fmt.Sprintf("; %s could not be repaired: %s", piece.Target, piece.Cause)
		}
	}
	return sum.String() + undone
}

// mend compares an index, and then reads the snapshot once more, for what is to be sent.
func (c *comparing) mend(ctx context.Context) error {
	if err := c.compare(ctx); err != nil {
		return err
	}
	c.closeScan(ctx)
	defer c.sends(ctx)()
	source := c.held.Piece().Index
	err := c.compared(ctx)
	if err == nil {
		err = c.writable(ctx, source)
	}
	if err == nil {
		err = c.compared(ctx) // the alias leads to it: one that is made from now on is not written to
	}
	if err == nil {
		err = c.readBefore(ctx)
	}
	if err == nil {
		err = c.save(ctx) // before anything is changed: who takes it over counts that again, and does not compare again
	}
	if err != nil {
		return err
	}
	sides := []reconcile.Side{reconcile.Expected}
	if c.older != nil && !c.phase.DeleteExtra { // else these are among what is too many
		sides = append(sides, reconcile.Before)
	}
	for _, side := range sides {
		err := c.parts(ctx, side, func(ctx context.Context, n int, from mark) error { return c.mendPart(ctx, side, n, from) })
		if err != nil {
			return c.nameless(ctx, source, err)
		}
	}
	if c.phase.DeleteExtra {
		if err := c.deleteExtra(ctx); err != nil {
			return c.nameless(ctx, source, err)
		}
	}
	return c.held.Update(func(piece check, _ time.Time) (check, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		piece.Mended = c.Mended
		piece.Mended.add(&c.Extra)
		return piece, nil
	})
}

// mended takes over what was answered up to a mark.
func (c *comparing) mended(side reconcile.Side, n int, at mark, read int64, m *Mended) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Marks[side][n], c.dirty = at, true
	c.Read += read
	if side == reconcile.Found {
		c.ReadFound += read
		c.Extra.add(m)
		return
	}
	c.Mended.add(m)
}
