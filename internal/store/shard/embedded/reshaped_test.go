package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// reshaped is an index whose shards change, what it should hold, and who may have lost what.
type reshaped struct {
	engine *embedded.Engine
	places *shardtest.Places
	placed placement.Placement
	shards map[uint32]shard.Shard
	holds  map[string]string // id to source; "": deleted
	doubts map[string]string // what was on its way when the plug was pulled
	next   int
	fs     vfs.FS // of a crash
	crash  string
	memory int64 // of the engine
	still  bool  // nothing is done behind the scenes by itself
	moves  bool  // a range is changing hands

	mu sync.Mutex // guards holds, doubts and placed against a look from outside
}

func newReshaped() *reshaped {
	r := &reshaped{places: &shardtest.Places{}, holds: map[string]string{}, doubts: map[string]string{},
		placed: placement.New(7, 1, placement.Local, placement.Change{By: "test", Why: "test"})}
	r.places.Put(r.placed)
	return r
}

func (r *reshaped) open(ctx context.Context, fs vfs.FS) (err error) {
	r.shards = map[uint32]shard.Shard{}
	if r.engine, err = embedded.Open(ctx, "data", embedded.Options{FS: fs, Ballast: -1, Logger: quiet, Memory: r.memory}); err != nil {
		return err
	}
	if r.still {
		r.engine.StillCounting()
	}
	for _, row := range r.placed.Shards {
		if err := r.openShard(ctx, row.Number); err != nil {
			return err
		}
	}
	return nil
}

func (r *reshaped) openShard(ctx context.Context, number uint32) (err error) {
	r.shards[number], err = r.engine.Open(ctx, shard.ID{Index: 7, Number: number}, r.places, shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		delete(r.shards, number)
	} else if r.still {
		embedded.Still(r.shards[number])
	}
	return err
}

func (r *reshaped) close() {
	for _, s := range r.shards {
		_ = s.Close()
	}
	if r.engine != nil {
		_ = r.engine.Close()
	}
}

// write puts or deletes some documents; each goes to its owner.
func (r *reshaped) write(ctx context.Context, rng *rand.Rand, n int) error {
	for range n {
		id := fmt.Sprint(rng.IntN(200))
		key := routing.KeyOf(id, "", 0)
		owner := r.placed.Owner(key)
		op := shard.Op{Key: key, ID: id, Condition: document.Always}
		r.next++
		if op.Delete = rng.IntN(4) == 0; !op.Delete {
			op.Source = fmt.Appendf(nil, "w%d n%d", rng.IntN(20), r.next)
			if rng.IntN(5) == 0 {
				op.Source = append(op.Source, " +child"...)
			}
		}
		r.mu.Lock()
		r.doubts[id] = string(op.Source)
		r.mu.Unlock()
		if result := r.shards[owner.Number].Write(ctx, owner.Epoch, []shard.Op{op})[0]; result.Err != nil {
			return result.Err
		}
		r.mu.Lock()
		r.holds[id] = string(op.Source)
		delete(r.doubts, id)
		r.mu.Unlock()
	}
	return nil
}

// hand makes the shards from what to says, as a runner does. Half tells to stop before the
// placement is changed.
func (r *reshaped) hand(ctx context.Context, from []uint32, to []shard.Incarnation, half bool) error {
	r.moves = true
	defer func() { r.moves = false }()
	for _, number := range from {
		_, release, err := r.shards[number].Fence(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = release(context.WithoutCancel(ctx)) }()
	}
	staged, err := r.engine.Stage(ctx, 7, from, to)
	if err != nil {
		return err
	}
	defer staged.Close()
	if err := partitioned(staged); err != nil {
		return err
	}
	if half {
		return r.engine.Unstage(ctx, 7, r.places)
	}
	next := shardtest.HandedOver(r.placed, from, to)
	if err := next.Check(); err != nil {
		return err
	}
	r.place(next)
	for _, t := range to {
		if s := r.shards[t.Number]; s != nil {
			err = s.Reload(ctx)
		} else {
			err = r.openShard(ctx, t.Number)
		}
		if err != nil {
			return err
		}
	}
	for _, number := range from {
		if _, stays := next.Shard(number); !stays {
			gone := r.shards[number]
			delete(r.shards, number)
			if err := errors.Join(gone.Reload(ctx), staged.Close(), gone.Close(), r.engine.Forget(ctx, shard.ID{Index: 7, Number: number})); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reshaped) place(next placement.Placement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places.Put(next)
	r.placed = next
}

// term is the greatest that was given.
func (r *reshaped) term() (term int64) {
	for _, s := range r.placed.Shards {
		term = max(term, s.Term)
	}
	return term
}

// change splits a shard, or merges neighbours.
func (r *reshaped) change(ctx context.Context, rng *rand.Rand) error {
	half := rng.IntN(4) == 0
	term := r.term()
	if n := len(r.placed.Shards); n > 1 && rng.IntN(2) == 0 {
		at := rng.IntN(n - 1)
		merged := r.placed.Shards[at : at+2+rng.IntN(n-at-1)]
		var from []uint32
		for _, s := range merged {
			from = append(from, s.Number)
		}
		to := shard.Incarnation{Number: slices.Min(from), Term: term + 1, Range: routing.Range{From: merged[0].Range.From, To: merged[len(merged)-1].Range.To}}
		return r.hand(ctx, from, []shard.Incarnation{to}, half)
	}
	of := r.placed.Shards[rng.IntN(len(r.placed.Shards))]
	parts := 2 + rng.IntN(3)
	var to []shard.Incarnation
	size := (of.Range.To - of.Range.From) / routing.Key(parts)
	for i := range parts {
		t := shard.Incarnation{Number: of.Number, Term: term + 1, Range: routing.Range{From: of.Range.From + routing.Key(i)*size, To: of.Range.From + routing.Key(i+1)*size - 1}}
		if i > 0 {
			t.Number = r.placed.Next + uint32(i-1)
		}
		if i == parts-1 {
			t.Range.To = of.Range.To
		}
		to = append(to, t)
	}
	return r.hand(ctx, []uint32{of.Number}, to, half)
}

// agree checks that the shards hold, and show, what they should: each document in its owner.
func (r *reshaped) agree(ctx context.Context) error {
	docs := int64(0)
	for number, s := range r.shards {
		if _, err := s.Refresh(ctx); err != nil {
			return err
		}
		reader, err := s.Acquire(ctx, s.Placed().Epoch)
		if err != nil {
			return err
		}
		err = shardtest.Agree(ctx, reader)
		docs += reader.Docs()
		if err = errors.Join(err, reader.Close()); err != nil {
			return fmt.Errorf("shard %d: %w", number, err)
		}
	}
	held := int64(0)
	for id, source := range r.holds {
		key := routing.KeyOf(id, "", 0)
		owner := r.placed.Owner(key)
		row, found, err := r.shards[owner.Number].Get(ctx, owner.Epoch, shard.Ref{Key: key, ID: id})
		if err != nil {
			return err
		}
		now := ""
		if found && !row.Deleted {
			now = string(row.Source)
			held++
		}
		if doubt, is := r.doubts[id]; now != source && (!is || now != doubt) {
			return fmt.Errorf("document %q is %q instead of %q", id, now, source)
		}
		r.holds[id] = now
	}
	for id := range r.doubts { // one that was not there before
		key := routing.KeyOf(id, "", 0)
		owner := r.placed.Owner(key)
		row, found, err := r.shards[owner.Number].Get(ctx, owner.Epoch, shard.Ref{Key: key, ID: id})
		if err != nil {
			return err
		}
		if _, known := r.holds[id]; !known && found && !row.Deleted {
			r.holds[id] = string(row.Source)
			held++
		}
	}
	clear(r.doubts)
	if docs != held {
		return fmt.Errorf("%d documents are shown instead of %d", docs, held)
	}
	return nil
}

// segments are how many a shard finds in, and how many docs of others they hold.
func (r *reshaped) segments(t *testing.T, number uint32) (n, foreign int) {
	t.Helper()
	s := r.shards[number]
	reader, err := s.Acquire(t.Context(), s.Placed().Epoch)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range reader.Views() {
		n, foreign = n+1, foreign+v.OutOf(s.Placed().Range).Count()
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	return n, foreign
}

// play writes and changes, and tells how often.
func (r *reshaped) play(ctx context.Context, rng *rand.Rand, rounds int) (err error) {
	for range rounds {
		if err = r.write(ctx, rng, 30); err != nil {
			return err
		}
		if rng.IntN(3) == 0 {
			if _, err = r.shards[r.placed.Shards[0].Number].Refresh(ctx); err != nil {
				return err
			}
		}
		if err := r.agree(ctx); err != nil {
			return fmt.Errorf("before: %w", err)
		}
		was := r.placed
		if err = r.change(ctx, rng); err != nil {
			return err
		}
		if err := r.agree(ctx); err != nil {
			return fmt.Errorf("after: %s %w", was, err)
		}
	}
	return nil
}
