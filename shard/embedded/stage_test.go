package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/shard"
	"github.com/reshelve/reshelve/shard/embedded"
	"github.com/reshelve/reshelve/shard/shardtest"
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
	if r.engine, err = embedded.Open(ctx, "data", embedded.Options{FS: fs, Ballast: -1, Logger: quiet}); err != nil {
		return err
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

// change splits a shard, or merges neighbours.
func (r *reshaped) change(ctx context.Context, rng *rand.Rand) error {
	half := rng.IntN(4) == 0
	term := int64(0)
	for _, s := range r.placed.Shards {
		term = max(term, s.Term)
	}
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

// TestStage splits and merges again and again, with small segments that are merged all the
// time, and opens the folder again in between.
func TestStage(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewMem()
		r := newReshaped()
		for range 4 {
			if err := r.open(t.Context(), fs); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				err := r.play(t.Context(), rng, 2)
				if err == nil {
					err = r.agree(t.Context())
				}
				if err != nil {
					t.Fatalf("seed %d, shards %v: %v", seed, r.placed, err)
				}
			}
			r.close()
		}
	}
}

// TestCrashOfStage pulls the plug before file operations while shards are split and merged:
// what was acknowledged is there once, by whatever placement stood.
func TestCrashOfStage(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	every := 3
	if testing.Short() {
		every = 40
	}
	mem, r := vfs.NewCrashableMem(), newReshaped()
	found := make(chan *reshaped, 4)
	var checking sync.WaitGroup
	for range 2 {
		checking.Go(func() {
			for c := range found {
				if err := c.check(); err != nil {
					t.Errorf("operation %s: %v\n%s", c.crash, err, c.placed)
				}
			}
		})
	}
	n := 0
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsRead {
			return nil
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if n++; n%every != 0 {
			return nil
		}
		kept := n / every % 3 * 50
		c := newReshaped()
		c.holds, c.doubts, c.placed = maps.Clone(r.holds), maps.Clone(r.doubts), r.placed
		c.places.Put(r.placed)
		c.crash = fmt.Sprintf("%d, %s, %d %% kept", n, op.Path, kept)
		c.fs = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(uint64(n), uint64(kept)))})
		found <- c
		return nil
	}))
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		err := r.open(t.Context(), fs)
		if err == nil {
			err = r.play(t.Context(), rng, 6)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.close()
	}
	close(found)
	checking.Wait()
	t.Logf("%d operations", n)
	if n < 300 {
		t.Errorf("only %d operations were seen", n)
	}
}

// check opens what a crash left, and goes on.
func (r *reshaped) check() error {
	ctx := context.Background()
	defer r.close()
	err := r.open(ctx, r.fs)
	if err == nil {
		err = r.agree(ctx)
	}
	if err == nil {
		err = r.play(ctx, rand.New(rand.NewPCG(9, 9)), 1)
	}
	if err == nil {
		err = r.agree(ctx)
	}
	return err
}

// partitioned checks that what was shown is shown by one incarnation, and nothing else is.
func partitioned(s *shard.Staged) error {
	shown := func(views []segment.View) map[string]int {
		found := map[string]int{}
		for _, v := range views {
			for doc := range segment.Doc(v.Docs()) {
				if v.IsRoot(doc) && v.Shows(doc) {
					found[fmt.Sprint(v.Key(doc), v.ID(doc), v.SeqNo(doc))]++
				}
			}
		}
		return found
	}
	var from, to []segment.View
	for _, r := range s.From {
		from = append(from, r.Views()...)
	}
	for _, views := range s.To {
		to = append(to, views...)
	}
	if was, is := shown(from), shown(to); !maps.Equal(was, is) {
		return fmt.Errorf("%d documents were shown, and %d will be", len(was), len(is))
	}
	return nil
}

// TestInheritedTombstonesGo when they are old enough, though no changes of their shard tell
// of them; also when the shards were closed before.
func TestInheritedTombstonesGo(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed early %t", closed), func(t *testing.T) { inheritedTombstonesGo(t, closed) })
	}
}

func inheritedTombstonesGo(t *testing.T, closed bool) {
	r, disk := newReshaped(), vfs.NewMem()
	ctx := t.Context()
	if err := r.open(ctx, disk); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for i := range 300 {
		for _, gone := range []bool{false, true} {
			id := fmt.Sprint(i)
			op := shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always, Source: []byte("w"), Delete: gone}
			if result := r.shards[0].Write(ctx, 1, []shard.Op{op})[0]; result.Err != nil {
				t.Fatal(result.Err)
			}
		}
	}
	halves := []shard.Incarnation{{Number: 0, Range: routing.Range{To: routing.MaxKey / 2}, Term: 2},
		{Number: 1, Range: routing.Range{From: routing.MaxKey/2 + 1, To: routing.MaxKey}, Term: 2}}
	if err := r.hand(ctx, []uint32{0}, halves, false); err != nil {
		t.Fatal(err)
	}
	if closed {
		r.close()
		if err := r.open(ctx, disk); err != nil {
			t.Fatal(err)
		}
	}
	for number, s := range r.shards {
		for s.Stats().Tombstones == 0 || number == 1 && s.Stats().Tombstones > 200 {
			time.Sleep(time.Millisecond) // they are counted
		}
		if err := s.Prune(ctx, time.Now().Add(30*time.Second)); err != nil || s.Stats().Tombstones == 0 {
			t.Errorf("shard %d forgets too early: %+v, %v", number, s.Stats(), err)
		}
		if _, err := s.Refresh(ctx); err != nil {
			t.Error(err)
		}
	}
	defer embedded.SetCommit(time.Millisecond)()
	deadline := time.Now().Add(10 * time.Second)
	for number, s := range r.shards {
		for s.Stats().Tombstones > 0 && time.Now().Before(deadline) {
			if err := s.Prune(ctx, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if s.Stats().Tombstones != 0 {
			t.Errorf("shard %d keeps %+v", number, s.Stats())
		}
	}
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

// TestWhatIsStagedTooLateIsRefused: a worker that slept past its lease stages what another has
// handed over meanwhile. What it would leave, the next opening of the new shard would take up.
func TestWhatIsStagedTooLateIsRefused(t *testing.T) {
	r := newReshaped()
	defer r.close()
	if err := r.open(t.Context(), vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	if err := r.engine.StageNothing(7, []uint32{1}, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("for a shard that is open: %v", err)
	}
	for from, number := range []uint32{0, 1} {
		if err := r.engine.StageNothing(7, []uint32{uint32(from)}, number); err != nil {
			t.Errorf("for shard %d: %v", number, err)
		}
	}
}
