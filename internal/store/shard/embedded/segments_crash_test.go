package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// TestCrashOfSegments pulls the plug before every operation on segment files, and some
// of the others, while they are written and merged all the time: afterwards each document
// that is there is found once, and the segments that were read are whole.
func TestCrashOfSegments(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	every := 1
	if testing.Short() {
		every = 7
	}
	ofSegments := 0
	crashes(t, shard.Settings{Indexer: shardtest.Words{}}, func(n int, path string) bool {
		if strings.Contains(path, "segments") {
			ofSegments++
			return ofSegments%every == 0
		}
		return n%(10*every) == 0
	}, playWords)
	if ofSegments < 100 {
		t.Errorf("only %d operations were on segments", ofSegments)
	}
}

// TestCrashWhileMending pulls the plug while segments that were damaged are made again.
func TestCrashWhileMending(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	every := 1
	if testing.Short() {
		every = 7
	}
	mended := 0
	crashes(t, shard.Settings{Indexer: shardtest.Words{}}, func(n int, path string) bool {
		return strings.Contains(path, "segments") && n%every == 0
	}, func(t *testing.T, fs vfs.FS, h *history, settings shard.Settings) {
		h.damages = true
		rng := rand.New(rand.NewPCG(3, 4))
		for round := range 4 {
			e, s, err := openedWith(small(fs), settings)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Mend(context.Background()); err != nil {
				t.Fatal(err)
			}
			for range 10 {
				if !h.write(s, words(rng, 30)) {
					t.Fatal("a write failed")
				}
			}
			if _, err := s.Refresh(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(checkViews(s), s.Close(), e.Close()); err != nil {
				t.Fatal(err)
			}
			if round < 3 {
				mended += damageOne(t, fs, rng)
			}
		}
	})
	if mended == 0 {
		t.Error("nothing was damaged")
	}
}

// damageOne turns a bit of a segment file around, durably.
func damageOne(t *testing.T, fs vfs.FS, rng *rand.Rand) int {
	dir := fs.PathJoin("data", "segments", "7")
	names, err := fs.List(dir)
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	slices.Sort(names)
	name := fs.PathJoin(dir, names[rng.IntN(len(names))])
	f, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	at, one := rng.Int64N(info.Size()), make([]byte, 1)
	if _, err := f.ReadAt(one, at); err != nil {
		t.Fatal(err)
	}
	one[0] ^= 1
	_, err = f.WriteAt(one, at)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return 1
}

// words makes some operations on few ids.
func words(rng *rand.Rand, n int) []shard.Op {
	ops := make([]shard.Op, n)
	for i := range ops {
		id := fmt.Sprint(rng.IntN(100))
		ops[i] = shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always, Delete: rng.IntN(4) == 0}
		if !ops[i].Delete {
			ops[i].Source = fmt.Appendf(nil, "x%d y%d +z%d", rng.IntN(20), rng.IntN(200), rng.IntN(5))
		}
	}
	return ops
}

// playWords writes, refreshes and prunes for a while, closing in between.
func playWords(t *testing.T, fs vfs.FS, h *history, settings shard.Settings) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		e, s, err := openedWith(small(fs), settings)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if !h.write(s, words(rng, 1+rng.IntN(40))) {
				t.Fatal("a write failed")
			}
			if rng.IntN(2) == 0 {
				if _, err := s.Refresh(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if rng.IntN(4) == 0 {
				h.mu.Lock()
				h.pruned = h.acked
				h.mu.Unlock()
				if err := s.Prune(context.Background(), time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := checkViews(s); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
