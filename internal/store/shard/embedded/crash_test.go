package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// TestCrashAtEveryFileOperation pulls the plug before every operation that changes
// a file, while a script writes, deletes, refreshes and prunes, and opens what is
// left: without what was not synced, and with parts of it.
func TestCrashAtEveryFileOperation(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 17
	}
	n := crashes(t, shard.Settings{}, func(n int, _ string) bool { return n%every == 0 }, play)
	if n < 500 {
		t.Errorf("only %d operations were seen", n)
	}
}

// stillSyncing is how many operations of others may come between the beginning of a sync
// and its end.
const stillSyncing = 3

// stepwise renames a file that is used again, and opens it then: the disk in memory does both with a
// lock held that it takes a second time, and waits for ever when it is copied in between.
type stepwise struct{ *vfs.MemFS }

func (s stepwise) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := s.Rename(from, to); err != nil {
		return nil, err
	}
	return s.OpenReadWrite(to, category)
}

// crashes pulls the plug before those operations of a script that are chosen by their
// number and file, and counts all.
func crashes(t *testing.T, settings shard.Settings, chosen func(n int, path string) bool, play func(*testing.T, vfs.FS, *history, shard.Settings)) (n int) {
	mem, h := vfs.NewCrashableMem(), &history{acked: -1, pruned: -1}
	crashes := make(chan crash, 8)
	var checkers sync.WaitGroup
	for range 2 {
		checkers.Go(func() {
			for c := range crashes {
				if err := c.check(); err != nil {
					t.Errorf("operation %d, %s, unsynced kept %d %%: %v", c.number, c.op, c.kept, err)
				}
			}
		})
	}
	var mu sync.Mutex
	synced := stillSyncing // operations that may have synced something since the last crash with nothing unsynced kept
	fs := errorfs.Wrap(stepwise{mem}, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsRead {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			synced = stillSyncing
		}
		if n++; !chosen(n, op.Path) {
			return nil
		}
		for _, kept := range []int{0, 50, 100} {
			if kept == 0 {
				if synced == 0 {
					continue // it is the same as the last one
				}
				synced--
			}
			c := crash{number: n, op: op.Path, kept: kept, settings: settings}
			c.ops, c.acked, _ = h.snapshot()
			c.damaged = h.damages
			c.fs = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(uint64(n), uint64(kept)))})
			c.issued, _, c.pruned = h.snapshot()
			crashes <- c
		}
		return nil
	}))
	play(t, fs, h, settings)
	close(crashes)
	checkers.Wait()
	t.Logf("%d operations", n)
	return n
}

// play writes, deletes, refreshes and prunes for a while, closing in between.
func play(t *testing.T, fs vfs.FS, h *history, settings shard.Settings) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		e, s, err := openedWith(small(fs), settings)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			if !h.write(s, random(rng, 1+rng.IntN(30))) {
				t.Fatal("a write failed")
			}
			switch rng.IntN(4) {
			case 0:
				if _, err := s.Refresh(context.Background()); err != nil {
					t.Fatal(err)
				}
			case 1:
				h.mu.Lock()
				h.pruned = h.acked
				h.mu.Unlock()
				if err := s.Prune(context.Background(), time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCrashWhileDropping pulls the plug around the drop of an index: it is there
// wholly, or it is gone, and once the drop was acknowledged it is gone.
func TestCrashWhileDropping(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var mu sync.Mutex
	var done bool
	var clones []*vfs.MemFS
	var acked []bool
	fs := errorfs.Wrap(stepwise{mem}, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			mu.Lock()
			defer mu.Unlock()
			for _, kept := range []int{0, 50, 100} {
				acked = append(acked, done)
				clones = append(clones, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, uint64(len(clones))))}))
			}
		}
		return nil
	}))
	h := &history{acked: -1, pruned: -1}
	e, s, err := opened(small(fs))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		if !h.write(s, random(rng, 30)) {
			t.Fatal("a write failed")
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	clones, acked = nil, nil
	mu.Unlock()
	if err := e.Drop(context.Background(), first.Index); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	done = true
	mu.Unlock()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if len(clones) < 30 {
		t.Errorf("only %d crashes", len(clones))
	}
	for i, fs := range clones {
		e, s, err := opened(small(fs))
		if err != nil {
			t.Fatal(err)
		}
		if s.Stats().SeqNo >= 0 {
			err = check(s, h.ops, h.acked, -1)
			if acked[i] {
				err = errors.New("it is back")
			}
		} else if indices, _ := e.Indices(context.Background()); len(indices) > 0 {
			err = errors.New("something of it is left")
		}
		if err = errors.Join(err, s.Close(), e.Close()); err != nil {
			t.Errorf("crash %d of %d: %v", i, len(clones), err)
		}
	}
}

// crash is a file system as it is found after the plug was pulled.
type crash struct {
	number        int
	op            string
	kept          int
	damaged       bool // segments are damaged, which no crash is to blame for
	settings      shard.Settings
	fs            *vfs.MemFS
	ops, issued   []shard.Op
	acked, pruned int64
}

func (c *crash) check() error {
	for range 2 { // the second time after an orderly end
		o, heard := small(c.fs), &listener{}
		o.Logger = slog.New(heard)
		e, s, err := openedWith(o, c.settings)
		if fault.Is(err, fault.Unavailable) && c.acked < 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if c.damaged {
			err = s.Mend(context.Background())
		}
		err = errors.Join(err, check(s, c.issued, c.acked, c.pruned))
		if err = errors.Join(err, s.Close(), e.Close()); err != nil {
			return err
		}
		if said := heard.of("damaged segment"); len(said) > 0 && !c.damaged {
			return fmt.Errorf("a crash damages nothing that counts: %v", said)
		}
	}
	return nil
}
