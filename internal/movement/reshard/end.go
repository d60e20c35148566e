package reshard

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// close lets one worker end the movement: do comes first, then the report, then the reshaping
// goes. The records, of which the ledger is one, go behind that, by [worker.Closing].
func (l *Lane) close(ctx context.Context, s worker.Slot, m *movement.Record, do func(*turn, context.Context) error) (worker.Outcome, error) {
	t, err := l.turn(s, m)
	if err != nil {
		return worker.Outcome{}, err
	}
	if l.busy(m.ID) {
		return worker.Outcome{}, nil
	}
	return worker.Closing(ctx, s, m, t.plan.Policy, func(ctx context.Context, reported string) error {
		l.unpin(m.ID)       // where it is led back before it was compared
		defer l.unpin(m.ID) // where the way back pins something, and the index is deleted before that is compared
		if err := do(t, ctx); err != nil {
			return err
		}
		p, err := ProgressOf(ctx, t.Driver, m, t.Store.NewestPlacement)
		if err == nil { // before the reshaping goes; what an attempt before has told stands
			err = t.Driver.Make(ctx, reported, p)
		}
		if err != nil {
			return err
		}
		return t.clear(ctx)
	})
}

// back is what abort and reverse do.
func (t *turn) back(ctx context.Context) error {
	_, r, err := t.read(ctx)
	if err != nil {
		return err
	}
	if r == nil { // or somebody is just beginning it: in the store's turn one of the two is first
		if err := t.clear(ctx); !fault.Is(err, fault.Conflict) {
			return err
		}
		return t.back(ctx)
	}
	wish := transfer.Abort
	for i := range r.Groups {
		if r.Groups[i].HandedOff() {
			wish = transfer.Reverse
		}
	}
	if r.Kind.Back() {
		wish = transfer.Reverse
	}
	if err := t.tell(ctx, transfer.Event{Happened: wish}); err != nil {
		return err
	}
	_, err = t.all(ctx, []transfer.Deed{transfer.Drop, transfer.MakeClone, transfer.Compare, transfer.HandOff, transfer.OpenTarget, transfer.CompareAtH})
	if err == nil && wish == transfer.Reverse {
		if err = t.tell(ctx, transfer.Event{Happened: transfer.Finish}); err != nil {
			return err
		}
		_, err = t.all(ctx, []transfer.Deed{transfer.Drop, transfer.Shed, transfer.Retire})
	}
	return err
}

// clear takes the reshaping out of the placement, and lets go of the files that it needed. Where it
// is not there any more, what is staged may be another's, and stays.
func (t *turn) clear(ctx context.Context) error {
	_, r, err := t.read(ctx)
	if err == nil && r != nil {
		err = t.Store.Unstage(ctx, t.plan.Shards.Index)
	}
	if err != nil {
		return err
	}
	_, err = t.Store.ChangePlacement(ctx, t.plan.Shards.Index, func(p placement.Placement) (placement.Placement, error) {
		return transfer.Clear(p, t.movement.ID, t.change("done"))
	})
	if fault.Is(err, fault.NotFound) { // the index was deleted
		return nil
	}
	return err
}

// gone tells whether the index of a plan was deleted.
func (l *Lane) gone(ctx context.Context, p *Plan) (bool, error) {
	_, err := l.Store.NewestPlacement(ctx, p.Shards.Index)
	if fault.Is(err, fault.NotFound) {
		return true, nil
	}
	return false, err
}

// deleted says why a movement ends.
func deleted(index string) string {
	return "index " + index + " was deleted: nothing is left to be done or undone"
}

// nothingLeft ends a turn for a movement whose index was deleted: it is aborted, and where that
// is not possible any more its phases end.
func (t *turn) nothingLeft(ctx context.Context, gone bool, err error) (worker.Outcome, error) {
	if !gone {
		return worker.Outcome{}, err
	}
	if t.movement.Ask(movement.Abort).Answer == movement.Goes {
		return worker.Outcome{Worked: true}, bury(ctx, t.Driver, t.movement, t.plan.Index)
	}
	return worker.Outcome{Worked: true, Done: true, Text: deleted(t.plan.Index)}, nil
}

// bury ends a movement whose index was deleted: it is aborted or reversed, which undoes nothing,
// and where neither is possible any more it goes on to its end, which does nothing.
func bury(ctx context.Context, d *drive.Driver, m *movement.Record, index string) error {
	for _, verb := range []movement.Verb{movement.Abort, movement.Reverse, movement.Resume} {
		if m.Ask(verb).Answer == movement.Goes {
			_, _, err := d.Apply(ctx, m.ID, movement.Event{Verb: verb, By: "reshelve", Why: deleted(index)})
			return err
		}
	}
	return nil
}
