package reshard

import (
	"context"
	"fmt"
	"time"

	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/shard"
	"github.com/reshelve/reshelve/transfer"
)

// clone stages what the shards of a group become, beside them, and compares it with what they
// show. Then the hand-off is rehearsed. Text tells that it will not fit the budget.
func (t *turn) clone(ctx context.Context, group int) (text string, err error) {
	p, r, err := t.read(ctx)
	if err != nil || r == nil {
		return "", err
	}
	from, to, err := incarnations(p, r, group)
	if err != nil {
		return "", err
	}
	staged, err := t.Store.Stage(ctx, r.Index, from, to)
	if err != nil {
		return "", err
	}
	defer func() { _ = staged.Close() }()
	found, err := partition(ctx, staged, to)
	if err != nil {
		return "", err
	}
	at, numbers := map[uint32]int64{}, int64(0)
	for i, reader := range staged.From {
		at[from[i]] = reader.SeqNo()
		numbers += reader.SeqNo()
	}
	t.written.look(time.Now(), numbers)
	g := &r.Groups[group]
	if err = t.tell(ctx, transfer.Event{Happened: transfer.WasCloned, Group: group, At: positions(g, at)}); err != nil {
		return "", err
	}
	if err := t.keep(ctx, group, "clone", found); err != nil {
		return "", err
	}
	err = t.tell(ctx, transfer.Event{Happened: transfer.Verified, Group: group, At: positions(g, at), Run: g.Cloned.Run + 1, Differences: found.Differences()})
	if err != nil || found.Differences() > 0 {
		return "", err
	}
	return t.rehearse(ctx, group, from, to)
}

// rehearsals are how often a hand-off is done without changing anything before it is done.
const rehearsals = 3

// rehearse predicts the pause of a group's hand-off: what it takes without a fence, on this store,
// with what is being written to it now.
func (t *turn) rehearse(ctx context.Context, group int, from []uint32, to []shard.Incarnation) (text string, err error) {
	var measured []time.Duration
	for range rehearsals {
		steps, err := t.Store.Rehearse(ctx, t.plan.Shards.Index, from, to)
		if err != nil { // without a prediction it is handed off too
			t.Logger.Warn("the pause of a hand-off is not predicted", "movement", t.movement.ID, "group", group, "error", err)
			return "", context.Cause(ctx)
		}
		measured = append(measured, steps.Sum())
	}
	predicted, _ := placement.Predict(placement.Rehearsals, measured, t.plan.Budget)
	t.longest = predicted.Max
	if predicted.Needs > 0 {
		text = fmt.Sprintf("the predicted pause is %s", predicted)
	}
	return text, t.Driver.Put(ctx, t.key("predicted", group), predicted)
}
