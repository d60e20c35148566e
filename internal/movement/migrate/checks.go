package migrate

import (
	"context"
	"errors"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// check is the piece of comparing one index, or of repairing it.
type check struct {
	work.Lease
	Verified
	Kept   string `json:"kept,omitempty"` // the name of the record of how far it is; see comparing.save
	Read   int64  `json:"read,omitempty"` // documents: the most that such a record has told of
	Mended Mended `json:"mended,omitzero"`
	// Sights are the records of what it has found on the target that is not as the snapshot has it; see sighted.
	Sights []string `json:"sights,omitempty"`
}

type heldCheck = drive.Held[check, *check]

// makeChecks makes a piece under a prefix for each index of the plan but those that were not
// moved. It is the plan that tells what is to be compared: an entry's record may have been
// lost. What is to be repaired has to be there.
func (t *turn) makeChecks(ctx context.Context, under string, mends bool) error {
	entries, err := drive.Pieces[entry](ctx, t.Driver, t.key("index", ""))
	if err != nil {
		return err
	}
	for i := range t.plan.Indices {
		index := &t.plan.Indices[i]
		if entries[work.Safe(index.Source)].State == work.Failed && !mends {
			continue
		}
		for _, name := range index.comparisons() {
			target, err := t.comparedWith(ctx, index, name)
			there := true
			if err == nil && mends {
				there, err = t.target.IndexExists(ctx, target)
			}
			if err == nil && there {
				c := check{Lease: work.Lease{CreatorID: t.Worker}, Verified: Verified{Index: index.Source, Target: target}}
				err = t.Driver.Make(ctx, t.key(under, work.Safe(name)), c)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checks does one of the pieces under a prefix, at random; when all have ended, it gives them.
func (t *turn) checks(ctx context.Context, under string, mends bool) (ended map[string]check, outcome worker.Outcome, err error) {
	all, err := drive.Pieces[check](ctx, t.Driver, t.key(under, ""))
	if err != nil {
		return nil, outcome, err
	}
	name, left := worker.Choose(ctx, all, t.plan.Policy, t.now(ctx))
	if left == 0 {
		return all, outcome, nil
	}
	if name == "" {
		return nil, outcome, nil
	}
	name = under + "/" + name
	held, _, err := worker.Claim[check](ctx, t.Slot, t.movement, t.key(name), t.plan.Policy)
	if err != nil || held == nil {
		return nil, outcome, err
	}
	done, err := t.check(ctx, held, name, mends)
	return nil, worker.Outcome{Worked: done.Worked}, err
}

// check does a piece until its end, or until its lease is nearly over; whoever claims it next
// goes on where it was.
func (t *turn) check(ctx context.Context, held *heldCheck, name string, mends bool) (worker.Outcome, error) {
	began := held.Piece().Read
	var c *comparing
	var reading context.Context
	err := worker.Beating(t.Slot, t.movement, held, t.plan.Policy, held.Beat, func(ctx context.Context) (err error) {
		var stop context.CancelCauseFunc
		reading, stop = context.WithCancelCause(ctx)
		timer := time.AfterFunc(held.Checkpoint(), func() { stop(errHandOver) })
		defer timer.Stop()
		defer stop(nil)
		if c, err = t.openComparison(reading, held, name, mends); err != nil {
			return err
		}
		do := c.verify
		if mends {
			do = c.mend
		}
		return c.keep(reading, do)
	})
	if err != nil && errors.Is(context.Cause(reading), errHandOver) && held.Lost() == nil {
		if held.Piece().Read > began {
			return worker.Outcome{Worked: true}, held.Release("")
		}
		err = fault.New(fault.Transient, "the lease ended before it got on")
	}
	outcome, err := worker.Settle(ctx, held, err)
	if outcome.Done && err == nil {
		c.closeScan(ctx)
		c.forget(ctx)
	}
	return outcome, err
}

// verify compares an index, and stores what that has shown.
func (c *comparing) verify(ctx context.Context) error {
	if err := c.compare(ctx); err != nil {
		return err
	}
	verified, err := c.verified(ctx)
	if err != nil {
		return err
	}
	return c.held.Update(func(piece check, _ time.Time) (check, error) {
		piece.Verified, piece.Sights = verified, c.Sights
		return piece, nil
	})
}
