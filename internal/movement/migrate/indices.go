package migrate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// entry is the piece of one index.
type entry struct {
	work.Lease
	Index
	Existed bool `json:"existed,omitempty"` // the target had it before
	// Aliases are those that templates of the target gave to the indices that were made, by index. They were removed,
	// and the phase aliases makes them again.
	Aliases map[string]map[string]json.RawMessage `json:"aliases,omitempty"`
}

// indices makes the entries of all indices, and then does one that is waiting, at random.
func (t *turn) indices(ctx context.Context) (worker.Outcome, error) {
	made, err := worker.Single(ctx, t.Slot, t.movement, t.key("phase", "index_setup"), t.plan.Policy, t.makeEntries)
	if err != nil || !made.Done || made.Worked {
		return worker.Outcome{Worked: made.Worked, Failed: made.Failed, Piece: made.Piece, Text: made.Text}, err
	}
	entries, err := drive.Pieces[entry](ctx, t.Driver, t.key("index", ""))
	if err != nil {
		return worker.Outcome{}, err
	}
	key, left := worker.Choose(ctx, entries, t.plan.Policy, t.now(ctx))
	if left == 0 {
		return ended(entries, "indices"), nil
	}
	if key == "" {
		return worker.Outcome{}, nil
	}
	held, _, err := worker.Claim[entry](ctx, t.Slot, t.movement, t.key("index", key), t.plan.Policy)
	if err != nil || held == nil {
		return worker.Outcome{}, err
	}
	err = worker.Beating(t.Slot, t.movement, held, t.plan.Policy, held.Beat, func(ctx context.Context) error { return t.makeIndex(ctx, held) })
	outcome, err := worker.Settle(ctx, held, err)
	return worker.Outcome{Worked: outcome.Worked}, err
}

// now is a time of the store that has surely come, for whoever asks it, or the zero time when that
// cannot be told: then nothing looks free that was claimed.
func (t *turn) now(ctx context.Context) time.Time {
	at, err := t.Driver.Passed(ctx)
	if err != nil {
		return time.Time{}
	}
	return at
}

// ended is the outcome of a phase of which every piece has ended: those that failed do not
// keep the rest from going on.
func ended[T any, P drive.Piece[T]](pieces map[string]T, what string) worker.Outcome {
	failed := 0
	for _, piece := range pieces {
		if P(&piece).Base().State == work.Failed {
			failed++
		}
	}
	return endedWith(len(pieces), failed, what)
}

// endedWith is the outcome of a phase of so many pieces.
func endedWith(all, failed int, what string) worker.Outcome {
	text := counted(all-failed, what)
	if failed > 0 {
		text += ", " + counted(failed, what) + " failed"
	}
	return worker.Outcome{Worked: true, Done: true, Text: text}
}

func (t *turn) makeEntries(ctx context.Context) error {
	for _, index := range t.plan.Indices {
		e := entry{Lease: work.Lease{CreatorID: t.Worker}, Index: index}
		if err := t.Driver.Make(ctx, t.key("index", work.Safe(index.Source)), e); err != nil {
			return err
		}
	}
	return nil
}
