package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/snapshot"
)

// redrive tries again what failed, so that the whole may become complete: indices and items
// are opened again and done as they are in their own phases, by all workers; then the
// documents that failed one by one are sent again. Each stage begins when the one before it
// has ended, for whichever worker.
func (t *turn) redrive(ctx context.Context, phase *movement.Phase) (worker.Outcome, error) {
	run := work.Safe(phase.Key())
	for _, stage := range []func(context.Context) (worker.Outcome, error){
		t.stage(run, "open", func(ctx context.Context) error { return t.reopen(ctx, run) }),
		t.indices,
		t.stage(run, "items", t.makeItems),
		func(ctx context.Context) (worker.Outcome, error) { return t.withChanges(ctx, t.documents) },
		t.stage(run, "letters", func(ctx context.Context) error { return t.makeLetters(ctx, run) }),
		func(ctx context.Context) (worker.Outcome, error) { return t.letters(ctx, run) },
		t.stage(run, "refresh", t.refresh),
	} {
		if outcome, err := stage(ctx); err != nil || !outcome.Done {
			return outcome, err
		}
	}
	text, err := t.redriven(ctx, run)
	return worker.Outcome{Worked: true, Done: err == nil, Text: text}, err
}

// stage is a part of a phase that one worker does for all.
func (t *turn) stage(run, name string, do func(context.Context) error) func(context.Context) (worker.Outcome, error) {
	return func(ctx context.Context) (worker.Outcome, error) {
		return worker.Single(ctx, t.Slot, t.movement, t.key("phase", run, name), t.plan.Policy, do)
	}
}

// opened is how many pieces a redrive has opened again.
type opened struct {
	Indices int `json:"indices"`
	Items   int `json:"items"` // and changes of shards
}

// reopen makes what failed whole waiting again. How much that was is stored before, since a
// second attempt at it finds less.
func (t *turn) reopen(ctx context.Context, run string) error {
	failed, err := failedPieces(ctx, t.Driver, t.movement.ID)
	if err != nil {
		return err
	}
	counts := opened{len(failed.entries), len(failed.items) + len(failed.changes)}
	if err := t.Driver.Make(ctx, t.key("redrive", run), counts); err != nil {
		return err
	}
	if err := reopenAll(ctx, t.Driver, failed.entries); err != nil {
		return err
	}
	if err := reopenAll(ctx, t.Driver, failed.items); err != nil {
		return err
	}
	return reopenAll(ctx, t.Driver, failed.changes)
}

func reopenAll[T any, P drive.Piece[T]](ctx context.Context, d *drive.Driver, pieces map[string]T) error {
	for key := range pieces {
		if err := drive.Reopen[T, P](ctx, d, key); err != nil {
			return err
		}
	}
	return nil
}

// letter is the piece of sending again what failed of one item, document by document.
type letter struct {
	work.Lease
	Item  string      `json:"item"`
	Again work.Counts `json:"again"`
	// Others names the first of those that others have written since.
	Others []Other `json:"others,omitempty"`
}

// makeLetters makes a piece for each item of which documents failed.
func (t *turn) makeLetters(ctx context.Context, run string) error {
	batches, err := batchesOf(ctx, t.Driver, t.movement.ID)
	last := ""
	for i := range batches {
		if err != nil {
			break
		}
		if name := batches[i].Item; name != last {
			last = name
			err = t.Driver.Make(ctx, t.key("letter", run, work.Safe(name)), letter{Lease: work.Lease{CreatorID: t.Worker}, Item: name})
		}
	}
	return err
}

// letters sends the documents of one item again, at random; one of which they cannot be read
// does not keep the others.
func (t *turn) letters(ctx context.Context, run string) (worker.Outcome, error) {
	all, err := drive.Pieces[letter](ctx, t.Driver, t.key("letter", run, ""))
	if err != nil {
		return worker.Outcome{}, err
	}
	key, left := worker.Choose(ctx, all, t.plan.Policy, t.now(ctx))
	if left == 0 {
		return worker.Outcome{Worked: true, Done: true}, nil
	}
	if key == "" {
		return worker.Outcome{}, nil
	}
	held, _, err := worker.Claim[letter](ctx, t.Slot, t.movement, t.key("letter", run, key), t.plan.Policy)
	if err != nil || held == nil {
		return worker.Outcome{}, err
	}
	err = worker.Beating(t.Slot, t.movement, held, t.plan.Policy, held.Beat, func(ctx context.Context) error { return t.sendLetters(ctx, held) })
	outcome, err := worker.Settle(ctx, held, err)
	return worker.Outcome{Worked: outcome.Worked}, err
}

// sendLetters sends again what failed of an item, batch by batch, and keeps of each list what
// fails again. What others have written is named before the list forgets it: who takes over finds it in one
// of the two, and counts again what was counted and is still listed.
func (t *turn) sendLetters(ctx context.Context, held *drive.Held[letter, *letter]) error {
	name := held.Piece().Item
	index, n, err := shardOf(name)
	if err != nil {
		return err
	}
	batches, err := drive.Pieces[failed](ctx, t.Driver, t.key("failed", work.Safe(name), ""))
	if err != nil {
		return err
	}
	shard, err := t.shard(ctx, index, n)
	if err != nil {
		return errDamaged(index, n, err)
	}
	if err := t.writable(ctx, index); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(batches)) {
		b := batches[key]
		again, err := t.sendLetter(ctx, index, shard, &b)
		if err != nil {
			return t.nameless(ctx, index, err)
		}
		err = held.Update(func(l letter, now time.Time) (letter, error) {
			beaten, err := l.Beat(t.Worker, now, true)
			l.Lease = beaten
			l.Again.Add(again.Counts)
			l.Others = addOthers(l.Others, again.others)
			return l, err
		})
		if err == nil {
			err = t.listAgain(ctx, index, &b, again.failed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sendLetter sends one list again.
func (t *turn) sendLetter(ctx context.Context, index string, shard *snapshot.Shard, b *failed) (resent, error) {
	list, err := failuresOf(ctx, t.Driver, t.movement.ID, b)
	if err != nil {
		return resent{}, err
	}
	positions := make([]int64, len(list))
	for i := range list {
		positions[i] = list[i].Position
	}
	return t.resend(ctx, index, shard, positions)
}

// listAgain keeps of a list what has failed again.
func (t *turn) listAgain(ctx context.Context, index string, b *failed, again []Failure) error {
	if len(again) == 0 {
		return t.removeFailures(ctx, b)
	}
	return t.keepFailures(ctx, b.Item, index, b.From, again)
}

// redriven says what came of it.
func (t *turn) redriven(ctx context.Context, run string) (string, error) {
	again, err := drive.Read[opened](ctx, t.Driver, t.key("redrive", run))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	failed, err := failedPieces(ctx, t.Driver, t.movement.ID)
	if err != nil {
		return "", err
	}
	letters, err := drive.Pieces[letter](ctx, t.Driver, t.key("letter", run, ""))
	if err != nil {
		return "", err
	}
	var sum work.Counts
	var others []Other
	unsent := ""
	for _, key := range slices.Sorted(maps.Keys(letters)) {
		l := letters[key]
		sum.Add(l.Again)
		others = addOthers(others, l.Others)
		if l.State == work.Failed {
			unsent = fmt.Sprintf("; those of %s could not be: %s", l.Item, l.Cause)
		}
	}
	text := ""
	for _, what := range []struct {
		opened, failed int
		plural         string
	}{{again.Indices, len(failed.entries), "indices"}, {again.Items, len(failed.items) + len(failed.changes), "items"}} {
		if what.opened > 0 || what.failed > 0 {
			text += fmt.Sprintf("%s opened again, of which %d failed again, ", counted(what.opened, what.plural), what.failed)
		}
	}
	return text + sentAgain(&sum, others) + unsent, nil
}
