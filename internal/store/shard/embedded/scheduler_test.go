package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestDamageDoesNotSpin damages files so that they cannot be merged, writes until they
// should be, and expects that the process comes to rest all the same.
func TestDamageDoesNotSpin(t *testing.T) {
	dir := filled(t, 10_000)
	files, err := filepath.Glob(filepath.Join(dir, "truth", "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		spoil(t, name, "flipped")
	}
	ctx := context.Background()
	e, s, err := openedAt(ctx, dir, embedded.Options{Logger: quiet, Memory: 1 << 20, Quiet: -1})
	if err != nil {
		t.Skip("the damage is met at once") // that is another test's
	}
	writing, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for i := range 60 {
		ops := make([]shard.Op, 100)
		for j := range ops {
			ops[j] = benchOp(100_000 + i*100 + j)
			ops[j].AutoID = true
		}
		if r := s.Write(writing, 1, ops); fault.Is(r[0].Err, fault.Unavailable) {
			break // it waits for merges, which cannot be
		} else if r[0].Err != nil {
			t.Fatal(r[0].Err)
		}
	}
	before := cpu()
	time.Sleep(2 * time.Second)
	if spent := cpu() - before; spent > time.Second {
		t.Errorf("%v of CPU in 2 s of rest", spent)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

func TestMergesGoOn(t *testing.T) {
	e, s := benchOpen(t)
	for i := range 100 {
		ops := make([]shard.Op, 100)
		for j := range ops {
			ops[j] = benchOp(i*100 + j)
		}
		if r := s.Write(t.Context(), 1, ops); r[0].Err != nil {
			t.Fatal(r[0].Err)
		}
	}
	for end := time.Now().Add(patience); e.Overlaps() > 8; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d overlapping files are not merged", e.Overlaps())
		}
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

// TestUsedIsWhatTheFilesTake compares what health tells with the files, after much
// was overwritten.
func TestUsedIsWhatTheFilesTake(t *testing.T) {
	dir := t.TempDir()
	e, s, err := openedAt(t.Context(), dir, embedded.Options{Logger: quiet, Memory: 1 << 20, Quiet: -1, Ballast: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		ops := make([]shard.Op, 100)
		for j := range ops {
			ops[j] = benchOp((i*100 + j) % 3000)
		}
		if r := s.Write(t.Context(), 1, ops); r[0].Err != nil {
			t.Fatal(r[0].Err)
		}
	}
	var used, files int64
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // while files come and go
		used, files = e.Used(), 0
		names, err := filepath.Glob(filepath.Join(dir, "truth", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				files += info.Size()
			}
		}
		if used > files/2 && used < files*2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("told are %d bytes, the files have %d", used, files)
		}
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

func benchOpen(t *testing.T) (*embedded.Engine, shard.Shard) {
	t.Helper()
	e, s, err := openedAt(t.Context(), t.TempDir(), embedded.Options{Logger: quiet, Memory: 1 << 20, Quiet: -1})
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}
