package migrate

import (
	"context"
	"errors"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/waits"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/snapshot"
)

// documents does one item that is waiting, at random.
func (t *turn) documents(ctx context.Context) (worker.Outcome, error) {
	find := findAtRandom
	if len(t.streams) > 0 {
		find = findInOrder
	}
	key, done, err := find(ctx, t)
	switch {
	case err != nil || done == nil && key == "":
		return worker.Outcome{}, err
	case done != nil:
		return *done, nil
	}
	held, _, err := worker.Claim[work.Item](ctx, t.Slot, t.movement, key, t.plan.Policy)
	if err != nil || held == nil {
		return worker.Outcome{}, err
	}
	outcome, err := t.doItem(ctx, held)
	return worker.Outcome{Worked: outcome.Worked}, err
}

// findAtRandom is the key of an item that nobody works on; "" when none was found. Done is the
// outcome when all items have ended.
func findAtRandom(ctx context.Context, t *turn) (key string, done *worker.Outcome, err error) {
	found, err := t.items.Find(ctx, t.Slot, t.movement, t.plan.Policy, t.plan.Digits)
	if found.Ended {
		outcome := endedWith(found.All, found.Failed, "items")
		done = &outcome
	}
	return found.Key, done, err
}

type heldItem = drive.Held[work.Item, *work.Item]

// errHandOver ends the reading of an item whose lease is nearly over.
var errHandOver = errors.New("the lease is nearly over")

// doItem copies what is left of an item. When the lease is nearly over, or the worker is
// told to stop, what was acknowledged is stored, and a successor or another worker goes on.
func (t *turn) doItem(ctx context.Context, held *heldItem) (worker.Outcome, error) {
	item := held.Piece()
	if item.Named() {
		return worker.Outcome{Worked: true}, t.handOver(held, 0)
	}
	defer t.sends(ctx)()
	c := newCopying(t, held)
	var reading context.Context
	err := worker.Beating(t.Slot, t.movement, held, t.plan.Policy, c.store, func(ctx context.Context) error {
		var stop context.CancelCauseFunc
		reading, stop = context.WithCancelCause(ctx)
		timer := time.AfterFunc(held.Checkpoint(), func() { stop(errHandOver) })
		defer timer.Stop()
		defer stop(nil)
		err := t.writable(ctx, item.Index)
		if err == nil {
			c.target, err = t.writesTo(ctx, item.Index)
		}
		if err != nil {
			return err
		}
		return t.nameless(ctx, item.Index, c.run(reading))
	})
	handOver := errors.Is(context.Cause(reading), errHandOver)
	if held.Lost() == nil {
		if e := c.store(); e != nil && err == nil {
			err = e
		}
	}
	if err != nil && handOver && held.Lost() == nil {
		switch at := held.Piece(); {
		case at.Cursor == at.End:
			return worker.Settle(ctx, held, nil)
		case at.Cursor > at.Start:
			return worker.Outcome{Worked: true}, t.handOver(held, c.setup)
		}
		err = fault.New(fault.Transient, "the lease ended before anything was acknowledged%s", waitsFor(ctx))
	}
	return worker.Settle(ctx, held, err)
}

// waitsFor is what keeps documents from getting on, for the end of a sentence.
func waitsFor(ctx context.Context) string {
	if why := waits.Why(ctx); why != "" {
		return ": " + why
	}
	return ""
}

// handOver lets another item go on at the cursor: name it in the item, create it, complete
// the item. Whoever finds a named successor does the rest.
func (t *turn) handOver(held *heldItem, setup time.Duration) error {
	var successor work.Item
	err := held.Update(func(item work.Item, now time.Time) (next work.Item, err error) {
		next, successor, err = item.Successor(t.plan.Policy, t.Worker, now, setup)
		return next, err
	})
	if err != nil {
		return err
	}
	item := held.Piece()
	if err := t.forgetFailures(held.Context(), &item, item.Cursor); err != nil {
		return err
	}
	if err := t.Driver.Make(held.Context(), t.itemKey(&successor), successor); err != nil {
		return err
	}
	return held.Complete()
}

// shard opens the shard of an item.
func (t *turn) shard(ctx context.Context, index string, n int) (*snapshot.Shard, error) {
	idx, err := t.snapshot.Index(ctx, index)
	if err != nil {
		return nil, err
	}
	return idx.Shard(ctx, n)
}

// targetOf is the name on the target of an index of the snapshot.
func (t *turn) targetOf(index string) string {
	for i := range t.plan.Indices {
		if t.plan.Indices[i].Source == index {
			return t.plan.Indices[i].Target
		}
	}
	return index
}
