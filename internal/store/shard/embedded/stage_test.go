package embedded_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

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
	fs := errorfs.Wrap(stepwise{mem}, errorfs.InjectorFunc(func(op errorfs.Op) error {
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
