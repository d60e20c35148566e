package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// refresh makes what was copied searchable.
func (t *turn) refresh(ctx context.Context) error {
	for _, index := range t.plan.Indices {
		for _, target := range index.Targets() {
			if err := t.target.Refresh(ctx, target); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
	}
	return nil
}

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
	t, err := l.ending(ctx, s, m)
	if err != nil {
		return worker.Outcome{}, err
	}
	if busy, err := worker.Busy(ctx, t.Driver, m.ID, t.plan.Policy); err != nil || busy {
		return worker.Outcome{}, err
	}
	return worker.Closing(ctx, s, m, t.plan.Policy, func(ctx context.Context, reported string) error {
		return t.closeOnce(ctx, reported, finish)
	})
}

// closeOnce makes the report, and then goes through the ledger. What an attempt before has
// reported stands: it has perhaps removed records already.
func (t *turn) closeOnce(ctx context.Context, reported string, finish bool) error {
	p, err := achieved(ctx, t.Driver, t.movement)
	if err == nil { // it will be read when this has ended, too
		p.Phase, p.Workers = "", 0
		p.Pace = PaceOf(p, p, p.Limits, p.AsOf)
		err = t.Driver.Make(ctx, reported, p)
	}
	if err != nil {
		return err
	}
	ledger, unread, err := t.Driver.ReadLedger(ctx, t.movement.ID)
	if err != nil {
		return err
	}
	for _, damaged := range unread {
		thing := strings.TrimPrefix(damaged.Key, movement.LedgerPrefix(t.movement.ID))
		if err := t.leave(ctx, reported, fmt.Sprintf("the ledger's record of %s is damaged (%v): whether the movement made that, and what was there before, is not known; it was left alone", thing, damaged.Err)); err != nil {
			return err
		}
	}
	if finish {
		if err := t.tellMissing(ctx, reported, ledger); err != nil {
			return err
		}
	}
	// A stream stands on its template, whichever was written down first.
	slices.SortStableFunc(ledger, func(a, b movement.Entry) int {
		switch {
		case a.Kind == b.Kind:
			return 0
		case a.Kind == kindStream:
			return -1
		case b.Kind == kindStream:
			return 1
		}
		return 0
	})
	var stuck []error // one thing that cannot be undone does not keep the rest
	for i := range ledger {
		err := fault.At(t.end(ctx, &ledger[i], reported, finish), ledger[i].Kind+" "+ledger[i].Name)
		if err != nil && (drive.Passing(err) || ctx.Err() != nil) {
			return err
		}
		stuck = append(stuck, err)
	}
	return errors.Join(stuck...)
}

// end does with the thing of an entry what the movement's end asks for. What it leaves alone
// is in the report before the entry is gone.
func (t *turn) end(ctx context.Context, e *movement.Entry, reported string, finish bool) error {
	if e.Deed(finish) != movement.HandOver {
		left, err := t.undo(ctx, e)
		if err == nil && left != "" {
			err = t.leave(ctx, reported, left)
		}
		if err != nil {
			return err
		}
	}
	return t.Driver.Strike(ctx, t.movement.ID, *e)
}

// leave adds to the report what the end has left alone.
func (t *turn) leave(ctx context.Context, reported, what string) error {
	record, err := t.Driver.Store().Get(ctx, reported)
	if err != nil {
		return err
	}
	var p Progress
	if err := json.Unmarshal(record.Value, &p); err != nil {
		return fault.Wrap(fault.Corrupt, err)
	}
	if slices.Contains(p.Left, what) {
		return nil
	}
	p.Left = append(p.Left, what)
	return t.Driver.Put(ctx, reported, p)
}
