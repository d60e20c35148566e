package reshard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
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
	if err := t.counted(ctx, r.Index, from); err != nil {
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
	if err := t.whole(ctx, r.Index, from, staged, &found); err != nil {
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

// rehearsed is what the rehearsals of a hand-off say.
type rehearsed struct {
	pause   placement.Pause
	open    time.Duration // of that, behind the point at which nothing can be given up any more
	longest time.Duration // of all rehearsals in this turn
}

// rehearsals are how often a hand-off is done without changing anything before it is done.
const rehearsals = 3

// rehearse predicts the pause of a group's hand-off: what it takes without a fence, on this store,
// with what is being written to it now.
func (t *turn) rehearse(ctx context.Context, group int, from []uint32, to []shard.Incarnation) (text string, err error) {
	var measured []time.Duration
	var opening []time.Duration
	for range rehearsals {
		steps, err := t.Store.Rehearse(ctx, t.plan.Shards.Index, from, to)
		if err != nil { // without a prediction it is handed off too
			t.Logger.Warn("the pause of a hand-off is not predicted", "movement", t.movement.ID, "group", group, "error", err)
			t.rehearsed[group] = rehearsed{longest: t.rehearsed[group].longest}
			return "", context.Cause(ctx)
		}
		measured = append(measured, steps.Sum())
		opening = append(opening, steps.Open)
	}
	predicted, _ := placement.Predict(placement.Rehearsals, measured, t.plan.Budget)
	slices.Sort(opening)
	t.rehearsed[group] = rehearsed{predicted, opening[len(opening)/2], max(predicted.Max, t.rehearsed[group].longest)}
	if predicted.Needs > 0 {
		text = fmt.Sprintf("the predicted pause is %s", predicted)
	}
	return text, t.Driver.Put(ctx, t.key("predicted", group), predicted)
}

// countingTakes is for how long a group waits, at most, until the rows of its shards have been counted.
const countingTakes = time.Minute

// counted waits until the documents of shards that have changed hands were counted: before, nobody
// knows whether they show all of them. Rows are compared at H in any case.
func (t *turn) counted(ctx context.Context, index uint32, from []uint32) error {
	for began := time.Now(); t.Store.Estimated(index, from) && time.Since(began) < countingTakes; {
		if err := drive.Wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// whole checks that shards show as many documents as they have rows. Where they do not, they index
// what is missing, and the phase is tried again.
func (t *turn) whole(ctx context.Context, index uint32, from []uint32, staged *shard.Staged, found *Found) error {
	there := int64(0)
	for _, reader := range staged.From {
		there += reader.Docs()
	}
	if there == found.Documents {
		return nil
	}
	if err := t.Store.Mend(ctx, index, from); err != nil {
		return err
	}
	return fault.New(fault.Unavailable, "the shards %s showed %d documents, and there were %d: they were indexed again", placement.Numbers(from), found.Documents, there)
}
