package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/reconcile"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

// Mended is what became of the documents of an index that a repair has sent again.
type Mended struct {
	work.Counts // Conflicts are those of Gone, too
	// Gone were deleted on the target, in a version that is not older than the snapshot's.
	Gone    int64 `json:"gone,omitempty"`
	Deleted int64 `json:"deleted,omitempty"` // they had been deleted in the source, and come back
	Kept    int64 `json:"kept,omitempty"`    // of such: others have changed them since
	// Cause is why one of those failed that did.
	Cause string `json:"cause,omitempty"`
}

func (m *Mended) add(o *Mended) {
	m.Add(o.Counts)
	m.Gone, m.Deleted, m.Kept = m.Gone+o.Gone, m.Deleted+o.Deleted, m.Kept+o.Kept
	m.Cause = cmp.Or(m.Cause, o.Cause)
}

// String is for people, with what they can do.
func (m *Mended) String() string {
	text := counted(int(m.Acknowledged), "documents") + " sent again"
	if m.Deleted > 0 {
		text += fmt.Sprintf(", %d deleted again", m.Deleted)
	}
	if others := m.Conflicts - m.Gone + m.Kept; others > 0 {
		text += fmt.Sprintf(", %d were changed on the target since, and are left so", others)
	}
	if m.Gone > 0 {
		text += fmt.Sprintf(", %d were deleted on the target since, in a newer version, and stay deleted: accept that with reshelve movement finish; "+
			"or to have them back, repair again when the target has forgotten the deletions (its index.gc_deletes, a minute unless set)", m.Gone)
	}
	if m.Failed > 0 {
		text += fmt.Sprintf(", %d failed again, one of them: %s", m.Failed, m.Cause)
	}
	return text
}

// repair compares both sides, and sends again what is missing, stale or different on the
// target. What is there and should not be is left alone, unless a delta has deleted it: the
// movement did not bring it. Each index is a piece, which all workers may do.
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
	sides := []reconcile.Side{reconcile.Expected}
	if c.older != nil {
		sides = append(sides, reconcile.Before)
	}
	for _, side := range sides {
		err := c.parts(ctx, side, func(ctx context.Context, n int, from mark) error { return c.mendPart(ctx, side, n, from) })
		if err != nil {
			return err
		}
	}
	return c.held.Update(func(piece check, _ time.Time) (check, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		piece.Mended = c.Mended
		return piece, nil
	})
}

// mended takes over what was answered up to a mark.
func (c *comparing) mended(side reconcile.Side, n int, at mark, read int64, m *Mended) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Marks[side][n], c.dirty = at, true
	c.Read += read
	c.Mended.add(m)
}

// gone counts those of the documents that lost to a newer version that are not there: it is
// their deletion which is newer.
func (t *turn) gone(ctx context.Context, lost []cluster.Failure) (n int64, err error) {
	if len(lost) == 0 {
		return 0, nil
	}
	type name struct {
		Index   string `json:"_index"`
		ID      string `json:"_id"`
		Routing string `json:"routing,omitempty"`
	}
	var ask struct {
		Docs []name `json:"docs"`
	}
	for i := range lost {
		ask.Docs = append(ask.Docs, name{lost[i].Index, lost[i].ID, lost[i].Routing})
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return 0, fault.Wrap(fault.Bug, err)
	}
	answer, err := t.target.Do(ctx, http.MethodPost, []string{"_mget"}, url.Values{"_source": {"false"}}, body)
	if err != nil {
		return 0, err
	}
	var told struct {
		Docs []struct {
			Found bool            `json:"found"`
			Error json.RawMessage `json:"error"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(answer, &told); err != nil || len(told.Docs) != len(lost) {
		return 0, fault.New(fault.Unavailable, "the target's answer about %d documents is not understood", len(lost))
	}
	for i := range told.Docs {
		if !told.Docs[i].Found && len(told.Docs[i].Error) == 0 {
			n++
		}
	}
	return n, nil
}
