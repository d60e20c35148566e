package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"math/rand/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// TestPruningBetweenStagingAndHandOff: changes that are pruned after a shard was staged stay
// pruned when it goes on under its new term.
func TestPruningBetweenStagingAndHandOff(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(6, 6))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if err := errors.Join(r.write(ctx, rng, 60), r.agree(ctx), embedded.Commit(r.shards[0])); err != nil {
		t.Fatal(err)
	}
	halves := routing.Equal(2)
	to := []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}
	staged, err := r.engine.Stage(ctx, 7, []uint32{0}, to)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := errors.Join(staged.Close(), r.shards[0].Prune(ctx, later)); err != nil {
		t.Fatal(err)
	}
	pruned := r.shards[0].Stats().Pruned
	if pruned < 0 {
		t.Fatal("nothing was pruned")
	}
	r.place(shardtest.HandedOver(r.placed, []uint32{0}, to))
	if err := errors.Join(r.shards[0].Reload(ctx), r.openShard(ctx, 1)); err != nil {
		t.Fatal(err)
	}
	if now := r.shards[0].Stats().Pruned; now < pruned {
		t.Errorf("changes up to %d are pruned, it says %d", pruned, now)
	}
	if err := errors.Join(r.write(ctx, rng, 60), r.agree(ctx)); err != nil {
		t.Fatal(err)
	}
	for number, s := range r.shards {
		if err := s.Prune(ctx, later); err != nil {
			t.Errorf("pruning shard %d: %v", number, err)
		}
	}
}

// TestEstimatesOverAFailure: the folder is opened again after a failure while the counts of
// shards that have changed hands are still estimates: they show what they own.
func TestEstimatesOverAFailure(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(7, 7))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if err := r.write(ctx, rng, 60); err != nil {
		t.Fatal(err)
	}
	defer r.engine.HoldCounting()()
	halves := routing.Equal(2)
	if err := r.hand(ctx, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}, false); err != nil {
		t.Fatal(err)
	}
	r.engine.Fail(errors.New("a failure"))
	if err := writable(r.engine); err != nil {
		t.Fatal(err)
	}
	for number, s := range r.shards {
		if within := embedded.Counted(s); within != s.Placed().Range {
			t.Errorf("shard %d counts %v, and owns %v", number, within, s.Placed().Range)
		}
		if err := embedded.Commit(s); err != nil {
			t.Error(err)
		}
	}
	if err := r.agree(ctx); err != nil {
		t.Error(err)
	}
}

// TestANarrowedRangeOverAFailure: a shard has given up a part of its range, and nothing was written
// since, when the folder is opened again: it counts and shows what it owns.
func TestANarrowedRangeOverAFailure(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(10, 10))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if err := errors.Join(r.write(ctx, rng, 60), r.agree(ctx)); err != nil {
		t.Fatal(err)
	}
	halves := routing.Equal(2)
	r.place(shardtest.HandedOver(r.placed, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}))
	if err := r.shards[0].Reload(ctx); err != nil {
		t.Fatal(err)
	}
	r.engine.Fail(errors.New("a failure"))
	if err := writable(r.engine); err != nil {
		t.Fatal(err)
	}
	s := r.shards[0]
	if within := embedded.Counted(s); within != s.Placed().Range {
		t.Errorf("it counts %v, and owns %v", within, s.Placed().Range)
	}
	reader, err := s.Acquire(ctx, s.Placed().Epoch)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(shardtest.Agree(ctx, reader), reader.Close()); err != nil {
		t.Error(err)
	}
}

// TestFilesOfAReaderGoWithIt: a file that was replaced while a reader had it open is removed
// when the reader closes, though nothing else happens.
func TestFilesOfAReaderGoWithIt(t *testing.T) {
	defer embedded.SetTiers(3, 1<<20, 1<<20)()
	e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	var reader shard.Reader
	for n := range 3 {
		putWords(t, s, 10*n, 10)
		if err := embedded.Commit(s); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			if reader, err = s.Acquire(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := embedded.MergeFiles(s); err != nil {
		t.Fatal(err)
	}
	if strays, err := e.Strays(first.Index); err != nil || len(strays) == 0 {
		t.Fatalf("the reader keeps %v, %v", strays, err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the files that it kept go", func() bool {
		strays, err := e.Strays(first.Index)
		return err == nil && len(strays) == 0
	})
}

// barred lets no segment file be created while it is.
type barred struct{ is atomic.Bool }

func (*barred) String() string { return "barred" }

func (b *barred) MaybeError(op errorfs.Op) error {
	if b.is.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".seg") {
		return syscall.EACCES
	}
	return nil
}

// TestSegmentsInMemoryAreBounded: while segments cannot be written to files and rows can, writes
// are refused before memory is full, and are taken again when the files can be written.
func TestSegmentsInMemoryAreBounded(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	b := &barred{}
	e, s, err := openedWith(small(errorfs.Wrap(vfs.NewMem(), b)), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	b.is.Store(true)
	rng := rand.New(rand.NewPCG(8, 8))
	var refusal error
	for n := 0; refusal == nil; n++ {
		if n == 3000 {
			t.Fatalf("%d bytes are in memory, and writes are still taken", e.InRAM())
		}
		refusal = s.Write(t.Context(), 1, words(rng, 20))[0].Err
		if _, err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.As(refusal, new(*shard.ReadOnly)) || !strings.Contains(refusal.Error(), "segments") || fault.Next(e.Health().ReadOnly) == "" {
		t.Errorf("the refusal is %v, next %q", refusal, fault.Next(e.Health().ReadOnly))
	}
	if err := checkViews(s); err != nil {
		t.Error(err)
	}
	b.is.Store(false)
	if err := writable(e); err != nil {
		t.Fatal(err)
	}
	putWords(t, s, 0, 10)
	if err := checkViews(s); err != nil {
		t.Error(err)
	}
}

// TestOneShardThatCannotBeOpenedAgain does not keep the others from it, and comes back when it can
// be read.
func TestOneShardThatCannotBeOpenedAgain(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(9, 9))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	halves := routing.Equal(2)
	if err := r.hand(ctx, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}, false); err != nil {
		t.Fatal(err)
	}
	if err := r.write(ctx, rng, 60); err != nil {
		t.Fatal(err)
	}
	mend, err := r.engine.SpoilState(shard.ID{Index: 7, Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.engine.Fail(errors.New("a failure"))
	if err := writable(r.engine); err != nil {
		t.Fatal(err)
	}
	if _, err := r.shards[0].Refresh(ctx); err != nil {
		t.Errorf("the other shard: %v", err)
	}
	if _, err := r.shards[1].Refresh(ctx); !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" {
		t.Errorf("the damaged shard: %v", err)
	}
	if reader, err := r.shards[1].Acquire(ctx, r.placed.Shards[1].Epoch); !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" {
		t.Errorf("a search: %v", err)
		if err == nil {
			_ = reader.Close()
		}
	}
	if result := r.shards[1].Write(ctx, r.placed.Shards[1].Epoch, []shard.Op{benchOp(1)}); result[0].Err == nil {
		t.Error("it takes a write")
	}
	if err := embedded.WriteBegun(ctx, r.shards[1], benchOp(1)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a write that had begun before: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for id, source := range r.holds {
		key := routing.KeyOf(id, "", 0)
		if owner := r.placed.Owner(key); owner.Number == 1 && source != "" {
			row, found, err := r.shards[1].Get(short, owner.Epoch, shard.Ref{Key: key, ID: id})
			if err != nil || !found || string(row.Source) != source {
				t.Fatalf("a get meanwhile: %q %t %v", row.Source, found, err)
			}
		}
	}
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	until(t, "it is opened again", func() bool { _, err := r.shards[1].Refresh(ctx); return err == nil })
	if err := errors.Join(r.write(ctx, rng, 60), r.agree(ctx)); err != nil {
		t.Error(err)
	}
}

// TestASweepBehindASealRemovesNothing: what is read between a failure and the moment in which the
// engine knows of it is perhaps not on disk.
func TestASweepBehindASealRemovesNothing(t *testing.T) {
	fs := vfs.NewMem()
	e, s, err := openedWith(small(fs), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 10)
	if err := embedded.Commit(s); err != nil {
		t.Fatal(err)
	}
	name := fs.PathJoin("data", "segments", fmt.Sprint(first.Index), "00000000deadbeef.seg") // what the manifest on disk names
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	e.SealedSweep(first.Index)
	if _, err := fs.Stat(name); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	if err := writable(e); err != nil {
		t.Fatal(err)
	}
}

// TestMergedFilesWhileACommitWrites: a merge of files ends while a commit writes, and its manifest
// could not be stored. That of the commit names the merged file.
func TestMergedFilesWhileACommitWrites(t *testing.T) {
	defer embedded.SetTiers(3, 1<<20, 1<<20)()
	mem, stop := vfs.NewCrashableMem(), &sluice{}
	e, s, err := openedWith(small(errorfs.Wrap(mem, stop)), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	for n := range 3 {
		putWords(t, s, 10*n, 10)
		if err := embedded.Commit(s); err != nil {
			t.Fatal(err)
		}
	}
	putWords(t, s, 30, 10)
	reached, lift := stop.lower()
	done := make(chan error)
	go func() { done <- embedded.Commit(s) }()
	<-reached
	stop.pass()
	if err := embedded.MergeFilesUnstored(s); err != nil {
		t.Fatal(err)
	}
	lift(nil)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checkViews(s), afterCrash(mem)); err != nil {
		t.Error(err)
	}
}
