package migrate

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/worker"
)

// refresh makes what was copied searchable.
func (t *turn) refresh(ctx context.Context) error {
	for _, index := range t.plan.Indices {
		if err := t.target.Refresh(ctx, index.Target); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// closing is the key of the piece by which one worker at a time ends a movement. It is not
// among the movement's pieces, which it removes.
func (t *turn) closing() string { return "closing/" + t.movement.ID }

// Settle hands over what was made to the target's owner, and removes the records of pieces.
// The movement's own record, with its report, stays.
func (l *Lane) Settle(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	return l.close(ctx, s, m, true)
}

// Undo takes away what the movement has made, when nobody works for it any more.
func (l *Lane) Undo(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	return l.close(ctx, s, m, false)
}

// close goes through the ledger, and then removes all records but the movement's.
func (l *Lane) close(ctx context.Context, s worker.Slot, m *movement.Record, finish bool) (worker.Outcome, error) {
	t, err := l.turn(ctx, s, m)
	if err != nil {
		return worker.Outcome{}, err
	}
	if busy, err := worker.Busy(ctx, t.Driver, prefix(m.ID)); err != nil || busy {
		return worker.Outcome{}, err
	}
	report, err := t.report(ctx)
	if err != nil {
		return worker.Outcome{}, err
	}
	outcome, err := worker.Single(ctx, s, m, t.closing(), t.plan.Policy, func(ctx context.Context) error {
		ledger, err := t.Driver.Ledger(ctx, m.ID)
		if err != nil {
			return err
		}
		for i := range ledger {
			if err := t.end(ctx, &ledger[i], finish); err != nil {
				return fault.At(err, ledger[i].Kind+" "+ledger[i].Name)
			}
		}
		return t.Driver.RemoveAll(ctx, prefix(m.ID))
	})
	if err == nil && outcome.Done {
		err = t.Driver.RemoveAll(ctx, t.closing())
	}
	outcome.Report = report
	return outcome, err
}

// report is what stays of a migration when its records are removed: how far it came. What
// an attempt before has stored stands, since it has perhaps removed records already.
func (t *turn) report(ctx context.Context) (json.RawMessage, error) {
	key := t.closing() + "/report"
	p, err := ProgressOf(ctx, t.Driver, t.movement)
	if err == nil {
		err = t.Driver.Make(ctx, key, p)
	}
	if err != nil {
		return nil, err
	}
	record, err := t.Driver.Store().Get(ctx, key)
	return record.Value, err
}

// end does with the thing of an entry what the movement's end asks for.
func (t *turn) end(ctx context.Context, e *movement.Entry, finish bool) error {
	if e.Deed(finish) == movement.Remove && e.Kind == "index" {
		if err := t.target.DeleteIndex(ctx, e.Name); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return t.Driver.Strike(ctx, t.movement.ID, *e)
}
