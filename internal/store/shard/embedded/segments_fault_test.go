package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// onSegments lets an injector see what is done to segment files alone.
type onSegments struct{ errorfs.Injector }

func (o onSegments) MaybeError(op errorfs.Op) error {
	if !strings.Contains(op.Path, "segments") {
		return nil
	}
	return o.Injector.MaybeError(op)
}

// TestSegmentsThatCannotBeWritten lets the operations on segment files fail, each once or
// for good: writes, gets and refreshes go on as if nothing had been, and what was not
// written is found after opening again.
func TestSegmentsThatCannotBeWritten(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	step := int64(3)
	if testing.Short() {
		step = 23
	}
	for name, times := range map[string]int64{"once": 1, "for good": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			for k := int64(1); k < 200; k += step {
				f := &failing{cause: syscall.ENOSPC, from: k, to: k + times}
				if err := withoutSegments(f); err != nil {
					t.Fatalf("operations from %d (%d failed, the last %s): %v", k, f.hit.Load(), *f.last.Load(), err)
				}
				if f.hit.Load() == 0 {
					break
				}
			}
		})
	}
}

func withoutSegments(f *failing) error {
	mem := vfs.NewCrashableMem()
	settings := shard.Settings{Indexer: shardtest.Words{}}
	h := &history{acked: -1, pruned: -1}
	rng := rand.New(rand.NewPCG(1, uint64(f.from)))
	e, s, err := openedWith(small(errorfs.Wrap(mem, onSegments{f})), settings)
	if err != nil {
		return err
	}
	for range 20 {
		if !h.write(s, words(rng, 1+rng.IntN(40))) {
			return errors.New("a write failed")
		}
		if rng.IntN(2) == 0 {
			if _, err := s.Refresh(context.Background()); err != nil {
				return err
			}
		}
	}
	if _, err := s.Refresh(context.Background()); err != nil {
		return err
	}
	if err := errors.Join(check(s, h.ops, h.acked, -1), s.Close(), e.Close()); err != nil {
		return err
	}
	c := crash{fs: mem.CrashClone(vfs.CrashCloneCfg{}), settings: settings, issued: h.ops, acked: h.acked, pruned: -1}
	return c.check()
}

// TestSegmentsUnderFailuresOfPebble lets the log and the manifest of Pebble fail, beside
// segments that are written all the time.
func TestSegmentsUnderFailuresOfPebble(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	step := int64(7)
	if testing.Short() {
		step = 61
	}
	for k := int64(1); ; k += step {
		f := &failing{cause: syscall.EIO, from: k, to: k + 2}
		if err := indexedUnderFailure(f); err != nil {
			t.Fatalf("operations from %d (%d failed): %v", k, f.hit.Load(), err)
		}
		if f.hit.Load() == 0 {
			break
		}
	}
}

func indexedUnderFailure(f *failing) error {
	mem, h := vfs.NewCrashableMem(), &history{acked: -1, pruned: -1}
	settings := shard.Settings{Indexer: shardtest.Words{}}
	rng := rand.New(rand.NewPCG(1, 2))
	e, s, err := openedWith(small(errorfs.Wrap(mem, f)), settings)
	for fault.Is(err, fault.Unavailable) {
		e, s, err = openedWith(small(errorfs.Wrap(mem, f)), settings)
	}
	if err != nil {
		return err
	}
	for range 15 {
		if h.write(s, words(rng, 1+rng.IntN(40))) {
			if rng.IntN(2) == 0 {
				_, _ = s.Refresh(context.Background())
			}
			continue
		}
		if err := h.settle(e, s); err != nil {
			return err
		}
	}
	if err := h.settle(e, s); err != nil {
		return err
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil && !fault.Is(err, fault.Unavailable) {
		return err
	}
	c := crash{fs: mem.CrashClone(vfs.CrashCloneCfg{}), settings: settings, issued: h.ops, acked: h.acked, pruned: -1}
	return c.check()
}

// TestACommitFollows writes little and waits until it is in a manifest.
func TestACommitFollows(t *testing.T) {
	defer embedded.SetCommit(time.Millisecond)()
	l := openLibrary(t, t.TempDir())
	for round := range 3 {
		l.write(words(rand.New(rand.NewPCG(1, uint64(round))), 5)...)
		l.refresh()
		for end := time.Now().Add(patience); embedded.Committed(l.shard) < l.shard.Stats().SeqNo; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d is committed of %d", embedded.Committed(l.shard), l.shard.Stats().SeqNo)
			}
		}
		l.agrees()
	}
	l.must(l.shard.Prune(t.Context(), time.Now().Add(time.Hour)))
	if s := l.shard.Stats(); s.Pruned != s.SeqNo {
		t.Errorf("pruned up to %d of %d", s.Pruned, s.SeqNo)
	}
}

// TestFilesOutliveTheirReaders merges files under a reader, which goes on; then they go.
func TestFilesOutliveTheirReaders(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	l := openLibrary(t, t.TempDir())
	l.write(words(rand.New(rand.NewPCG(1, 1)), 60)...)
	l.refresh()
	r, err := l.shard.Acquire(t.Context(), 1)
	l.must(err)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		l.write(words(rng, 30)...)
		l.refresh()
		l.must(shardtest.Agree(t.Context(), r))
	}
	l.agrees()
	l.must(r.Close())
	l.must(l.shard.Close())
	if n := l.engine.Files(); n != 0 {
		t.Errorf("%d files are mapped", n)
	}
	left := len(l.files())
	l.shard, err = l.engine.Open(t.Context(), first, whole(), shard.Settings{Indexer: shardtest.Words{}})
	l.must(err)
	if n := l.engine.Files(); n != left {
		t.Errorf("%d files are left, %d are used", left, n)
	}
	l.agrees()
}

// TestManyShardsOfOneIndex has four shards of one index write files into one folder.
func TestManyShardsOfOneIndex(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	places := &shardtest.Places{}
	p := placement.New(7, 4, placement.Local, placement.Change{By: "test", Why: "test"})
	places.Put(p)
	dir := t.TempDir()
	for round := range 2 {
		e := open(t, dir)
		var shards []shard.Shard
		for i := range p.Shards {
			s, err := e.Open(t.Context(), shard.ID{Index: 7, Number: uint32(i)}, places, shard.Settings{Indexer: shardtest.Words{}})
			if err != nil {
				t.Fatal(err)
			}
			shards = append(shards, s)
		}
		rng := rand.New(rand.NewPCG(1, uint64(round)))
		for range 300 {
			op := words(rng, 1)[0]
			for i, placed := range p.Shards {
				if placed.Range.Contains(op.Key) {
					if r := shards[i].Write(t.Context(), 1, []shard.Op{op}); r[0].Err != nil {
						t.Fatal(r[0].Err)
					}
				}
			}
		}
		for _, s := range shards {
			if _, err := s.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := checkViews(s); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if names, err := filepath.Glob(filepath.Join(dir, "segments", "7", "*")); err != nil || len(names) < 4 {
		t.Error(names, err)
	}
}

// TestALargeWrite has several groups in one request, of which each is more than what may
// wait to be indexed.
func TestALargeWrite(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	l := openLibrary(t, t.TempDir())
	for round := range 3 {
		var ops []shard.Op
		for i := range 3000 {
			op := benchOp(round*3000 + i)
			op.Source = op.Source[:500]
			ops = append(ops, op)
		}
		l.write(ops...)
	}
	l.refresh()
	l.agrees()
}

// TestALargeBacklogIsSpilled opens a folder without manifests that holds more than what
// may be in memory.
func TestALargeBacklogIsSpilled(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	s, err := e.Open(t.Context(), first, whole(), shard.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		var ops []shard.Op
		for j := range 100 {
			id := fmt.Sprint(100*i + j)
			ops = append(ops, shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Source: []byte("word other" + id), Condition: words(rand.New(rand.NewPCG(1, 1)), 1)[0].Condition})
		}
		if r := s.Write(t.Context(), 1, ops); r[99].Err != nil {
			t.Fatal(r[99].Err)
		}
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	defer embedded.SetTiers(3, 2000, 3000)()
	l := openLibrary(t, dir)
	l.agrees()
	if len(l.files()) == 0 {
		t.Error("nothing was written to files")
	}
	l.close()
	l = openLibrary(t, dir)
	l.agrees()
	if n := l.indexed.Load(); n != 0 {
		t.Errorf("%d were indexed again", n)
	}
}
