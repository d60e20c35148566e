package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// hooked is an indexer that does something before each document, when there is something.
type hooked struct{ before *atomic.Pointer[func()] }

func (h hooked) Into(b *segment.Builder) func(shard.Row) error {
	put := shardtest.Words{}.Into(b)
	return func(row shard.Row) error {
		if do := h.before.Load(); do != nil {
			(*do)()
		}
		return put(row)
	}
}

// putOps writes operations.
func putOps(t *testing.T, s shard.Shard, ops ...shard.Op) {
	t.Helper()
	for _, result := range s.Write(context.Background(), s.Placed().Epoch, ops) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
}

func putOp(id, source string) shard.Op {
	return shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always, Source: []byte(source)}
}

// TestOnDiskAfterACrash: what a crash has left of files that nobody names is not taken away from what
// the index has.
func TestOnDiskAfterACrash(t *testing.T) {
	fs := vfs.NewMem()
	e, s, err := openedWith(small(fs), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	putWords(t, s, 0, 50)
	if err := errors.Join(embedded.Commit(s), s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	folder := fs.PathJoin("data", "segments", fmt.Sprint(first.Index))
	f, err := fs.Create(fs.PathJoin(folder, "00000000deadbeef.seg"), vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(make([]byte, 1<<20))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if e, s, err = openedWith(small(fs), shard.Settings{Indexer: shardtest.Words{}}); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	names, err := fs.List(folder)
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	there := int64(0)
	for _, name := range names {
		info, err := fs.Stat(fs.PathJoin(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		there += info.Size()
	}
	if size, known := e.OnDisk(first.Index); !known || size < there {
		t.Errorf("the index takes %d bytes (known: %t), its segments alone have %d", size, known, there)
	}
}

// TestARepairThatIsInterruptedGoesOn: an entry of which the counts were wrong is not taken for mended
// because somebody has begun to mend it.
func TestARepairThatIsInterruptedGoesOn(t *testing.T) {
	var before atomic.Pointer[func()]
	e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: hooked{&before}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 20)
	release := e.HoldRepairs()
	if err := embedded.Lie(s); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Mend(ctx); err == nil || s.Stats().Repairs.Count != 1 {
		t.Fatalf("%v, noticed %d times", err, s.Stats().Repairs.Count)
	}
	ctx, cancel = context.WithCancel(t.Context())
	interrupt := func() { cancel() }
	if err := embedded.Again(ctx, s, func(int64) {
		putOps(t, s, putOp("100", "a"), putOp("101", "b"))
		before.Store(&interrupt)
	}); err == nil {
		t.Fatal("it was not interrupted")
	}
	before.Store(nil)
	if _, err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	until(t, "what is there is found again", func() bool { return checkViews(s) == nil })
}

// TestACountIsCorrectedOnce by two who have read the same rows at a time.
func TestACountIsCorrectedOnce(t *testing.T) {
	e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 20)
	defer e.HoldRepairs()()
	embedded.Miscount(s, 3)
	putWords(t, s, 20, 1)
	other := func(int64) {
		if err := embedded.Again(t.Context(), s, nil); err != nil {
			t.Error(err)
		}
	}
	if err := embedded.Again(t.Context(), s, other); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Docs; n != 21 {
		t.Errorf("%d documents are counted instead of 21", n)
	}
	if err := checkViews(s); err != nil {
		t.Error(err)
	}
}

// TestRebuildingWhileARangeComesAndGoes: what was read of a range that another shard has owned
// meanwhile is not shown.
func TestRebuildingWhileARangeComesAndGoes(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(11, 11))
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if err := errors.Join(r.write(ctx, rng, 100), r.agree(ctx)); err != nil {
		t.Fatal(err)
	}
	halves, moved := routing.Equal(2), false
	move := func() {
		r.place(shardtest.HandedOver(r.placed, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}))
		if err := errors.Join(r.shards[0].Reload(ctx), r.openShard(ctx, 1)); err != nil {
			t.Fatal(err)
		}
		other := r.shards[1]
		for id, source := range r.holds {
			if source != "" && halves[1].Contains(routing.KeyOf(id, "", 0)) {
				r.holds[id] = source + " again"
				putOps(t, other, putOp(id, r.holds[id]))
			}
		}
		r.place(shardtest.HandedOver(r.placed, []uint32{0, 1}, []shard.Incarnation{{Number: 0, Term: 3, Range: routing.Whole}}))
		delete(r.shards, 1)
		if err := errors.Join(other.Reload(ctx), other.Close(), r.shards[0].Reload(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	err := r.shards[0].Reindex(ctx, func(int64) {
		if !moved {
			moved = true
			move()
		}
	})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("the rebuilding: %v", err)
	}
	if err := r.agree(ctx); err != nil {
		t.Error(err)
	}
}

// TestARepairThatFailsKeepsNoOtherWaiting while it waits to be tried again.
func TestARepairThatFailsKeepsNoOtherWaiting(t *testing.T) {
	defer embedded.SetRetry(time.Hour)()
	heard, o := &listener{}, small(vfs.NewMem())
	o.Logger = slog.New(heard)
	e, bad, err := openedWith(o, shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = bad.Close(), e.Close() }()
	places := &shardtest.Places{}
	places.Put(placement.New(8, 1, placement.Local, placement.Change{By: "test", Why: "test"}))
	good, err := e.Open(t.Context(), shard.ID{Index: 8}, places, shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	big := putOp("big", string(bytes.Repeat([]byte("word "), 400)))
	putOps(t, bad, big)
	putWords(t, bad, 0, 10)
	putWords(t, good, 0, 10)
	release := e.HoldRepairs()
	if err := errors.Join(embedded.Spoil(bad, embedded.MaskHidesMore), e.SpoilValue(bad, shard.Ref{Key: big.Key, ID: big.ID})); err != nil {
		t.Fatal(err)
	}
	putWords(t, bad, 10, 1) // rows are read as of now
	release()
	until(t, "one repair has failed", func() bool { return len(heard.of("indexing again failed")) > 0 })
	if err := embedded.Spoil(good, embedded.MaskHidesMore); err != nil {
		t.Fatal(err)
	}
	until(t, "the other shard is repaired", func() bool { return checkViews(good) == nil })
}

// TestEstimatesAreNoLessThanNothing: what was deleted was more than a shard was thought to have.
func TestEstimatesAreNoLessThanNothing(t *testing.T) {
	ctx, r := t.Context(), newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	halves := routing.Equal(2)
	var large, little []shard.Op
	for n := 0; len(large) < 5 || len(little) < 5; n++ {
		op := putOp(fmt.Sprint(n), "x")
		if !halves[0].Contains(op.Key) {
			little = append(little, op)
			continue
		}
		op.Source = bytes.Repeat([]byte("word "), 1000)
		large = append(large, op)
	}
	putOps(t, r.shards[0], large[:5]...)
	putOps(t, r.shards[0], little[:5]...)
	defer r.engine.HoldCounting()()
	if err := r.hand(ctx, []uint32{0}, []shard.Incarnation{{Number: 0, Term: 2, Range: halves[0]}, {Number: 1, Term: 2, Range: halves[1]}}, false); err != nil {
		t.Fatal(err)
	}
	for _, op := range large[:5] {
		op.Source, op.Delete = nil, true
		putOps(t, r.shards[0], op)
	}
	stats := r.shards[0].Stats()
	if !stats.Estimated {
		t.Fatal("it was counted, nothing was tried")
	}
	if stats.Docs != 0 || stats.Bytes < 0 || stats.Tombstones < 0 {
		t.Errorf("%+v", stats)
	}
}

// TestWhatNobodyNamesGoesWithItsLastUser: files of a rebuilding that was given up are removed, though
// nothing else is done.
func TestWhatNobodyNamesGoesWithItsLastUser(t *testing.T) {
	defer embedded.SetTiers(3, 1<<20, 3000)()
	e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	embedded.Still(s)
	putWords(t, s, 0, 1500)
	if err := embedded.Commit(s); err != nil {
		t.Fatal(err)
	}
	strays := func() int {
		all, err := e.Strays(first.Index)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	until(t, "only what is needed is there", func() bool { return strays() == 0 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	made := 0
	err = s.Reindex(ctx, func(rows int64) {
		if made = strays(); rows >= 1024 {
			cancel()
		}
	})
	if err == nil || made == 0 {
		t.Fatalf("%d files were made: %v", made, err)
	}
	until(t, "they are removed", func() bool { return strays() == 0 })
}

// roomy is a file system with so much free space.
type roomy struct {
	vfs.FS
	free *atomic.Uint64
}

func (r roomy) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: r.free.Load(), TotalBytes: 1 << 40}, nil
}

// TestARebuildingNeedsRoom as a merge does, and writes nothing where there is none.
func TestARebuildingNeedsRoom(t *testing.T) {
	var free atomic.Uint64
	var later atomic.Int64
	free.Store(1 << 39)
	o := small(roomy{vfs.NewMem(), &free})
	o.LowWater, o.Now = 1000, func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	e, s, err := openedWith(o, shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 300)
	if err := embedded.Commit(s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		free uint64
		fits bool
	}{{1100, false}, {1 << 39, true}} {
		free.Store(c.free)
		later.Add(int64(5 * time.Second))
		if err := s.Reindex(t.Context(), nil); (err == nil) != c.fits || !c.fits && !fault.Is(err, fault.Unavailable) {
			t.Errorf("with %d bytes: %v", c.free, err)
		}
	}
}

// TestNothingIsInTheMakingWhileRowsAreLookedAt: there are few segments in the making at a time in all
// of the engine, and a repair that goes through all rows, of which it indexes few, keeps none.
func TestNothingIsInTheMakingWhileRowsAreLookedAt(t *testing.T) {
	e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 2000)
	defer e.HoldRepairs()()
	if err := embedded.Spoil(s, embedded.MaskHidesMore); err != nil {
		t.Fatal(err)
	}
	looks := 0
	if err := embedded.Again(t.Context(), s, func(int64) {
		if looks++; e.Making() > 0 {
			t.Errorf("%d are in the making", e.Making())
		}
	}); err != nil || looks == 0 {
		t.Fatalf("%d looks: %v", looks, err)
	}
	if err := checkViews(s); err != nil {
		t.Error(err)
	}
}

// TestClosingDoesNotWaitForTheMergesOfOthers: who waits for the slot of merges gives up.
func TestClosingDoesNotWaitForTheMergesOfOthers(t *testing.T) {
	for name, do := range map[string]func(shard.Shard) error{
		"a merge":  func(s shard.Shard) error { return s.Merge(context.Background(), shard.Merging{}) },
		"shedding": func(s shard.Shard) error { _, _, err := s.Shed(context.Background(), nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			waits := make(chan struct{}, 1)
			defer embedded.Interleave(func(taken func() bool) {
				if taken != nil && taken() {
					select {
					case waits <- struct{}{}:
					default:
					}
				}
			})()
			e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: shardtest.Words{}})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			embedded.Still(s)
			putWords(t, s, 0, 10)
			release, done, closed := e.HoldMerges(), make(chan error, 1), make(chan error, 1)
			go func() { done <- do(s) }()
			<-waits
			go func() { closed <- s.Close() }()
			select {
			case err = <-closed:
				release()
			case <-time.After(patience):
				t.Error("it waits")
				release()
				err = <-closed
			}
			if err != nil {
				t.Error(err)
			}
			if err := <-done; !fault.Is(err, fault.Stale) && !fault.Is(err, fault.Unavailable) {
				t.Error(err)
			}
		})
	}
}

// TestStagingComparesCounts: nothing is staged that shows another number of documents than the sources
// have.
func TestStagingComparesCounts(t *testing.T) {
	e, s, err := openedWith(small(vfs.NewMem()), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 10)
	if err := embedded.Commit(s); err != nil {
		t.Fatal(err)
	}
	embedded.ShowMore(s)
	staged, err := e.Stage(t.Context(), first.Index, []uint32{0}, []shard.Incarnation{{Number: 0, Range: routing.Whole, Term: 2}})
	if err == nil {
		_ = staged.Close()
	}
	if !fault.Is(err, fault.Bug) {
		t.Errorf("staging says %v", err)
	}
}

// TestWhatCannotBeOpenedIsNotTakenUp: a file of what is staged cannot be opened now, and can be later:
// the shard is what it was until then.
func TestWhatCannotBeOpenedIsNotTakenUp(t *testing.T) {
	ctx, rng, r := t.Context(), rand.New(rand.NewPCG(12, 12)), newReshaped()
	var scarce atomic.Bool
	err := r.open(ctx, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if scarce.Load() && op.Kind == errorfs.OpOpen && strings.HasSuffix(op.Path, ".seg") {
			return syscall.EMFILE
		}
		return nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.write(ctx, rng, 60))
	must(r.split(ctx, 0))
	for n := range 200 { // the other has the higher numbers
		if op := putOp(fmt.Sprint(n), fmt.Sprint("w", n)); r.placed.Owner(op.Key).Number == 1 {
			putOps(t, r.shards[1], op)
			r.holds[op.ID] = string(op.Source)
		}
	}
	to := []shard.Incarnation{{Number: 0, Term: r.term() + 1, Range: routing.Whole}}
	staged, err := r.engine.Stage(ctx, 7, []uint32{0, 1}, to)
	must(err)
	must(staged.Close())
	r.place(shardtest.HandedOver(r.placed, []uint32{0, 1}, to))
	other := r.shards[1]
	delete(r.shards, 1)
	must(errors.Join(other.Reload(ctx), other.Close()))
	scarce.Store(true)
	if err := r.shards[0].Reload(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without files: %v", err)
	}
	scarce.Store(false)
	must(r.shards[0].Reload(ctx))
	must(r.engine.Forget(ctx, shard.ID{Index: 7, Number: 1}))
	must(errors.Join(r.agree(ctx), r.write(ctx, rng, 60), r.agree(ctx)))
}
