package embedded_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// smallDisk is a file system of 64 MB. Where none can be mounted the test is left
// out, but not in CI: there it must have been tried.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("a small file system cannot be mounted: %v", err)
		}
		t.Skipf("NOT TRIED: a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all the space that is left, with a file that somebody else might write.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	name := filepath.Join(disk, "foreign")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	file.Close()
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// writer writes documents until it is refused, and knows which were acknowledged.
type writer struct {
	shard shard.Shard
	next  int
	acked []int
}

// batch writes 50 documents; the error is that of the first that failed.
func (w *writer) batch(ctx context.Context) (err error) {
	ops := make([]shard.Op, 50)
	for i := range ops {
		ops[i] = benchOp(w.next + i)
	}
	for i, r := range w.shard.Write(ctx, 1, ops) {
		if r.Err == nil {
			w.acked = append(w.acked, w.next+i)
		} else if err == nil {
			err = r.Err
		}
	}
	w.next += len(ops)
	return err
}

// verify reads every document that was acknowledged.
func (w *writer) verify(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, i := range w.acked {
		op := benchOp(i)
		row, found, err := w.shard.Get(ctx, 1, shard.Ref{Key: op.Key, ID: op.ID})
		if err != nil || !found || string(row.Source) != string(op.Source) {
			t.Fatalf("document %d: found %t, %v", i, found, err)
		}
	}
}

// TestAFullDisk fills a disk: by writes up to the low-water mark, and by somebody
// else, before writes are refused and after.
func TestAFullDisk(t *testing.T) {
	for name, lowWater := range map[string]int64{"writes are refused in time": 0, "writes meet the end of the disk": 1} {
		t.Run(name, func(t *testing.T) {
			disk := smallDisk(t)
			o := embedded.Options{Logger: quiet, Memory: 4 << 20, Ballast: 4 << 20, LowWater: lowWater}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			e, s, err := openedAt(ctx, filepath.Join(disk, "data"), o)
			if err != nil {
				t.Fatal(err)
			}
			w := &writer{shard: s}
			for range 40 {
				if err := w.batch(ctx); err != nil {
					t.Fatal(err)
				}
			}
			free := fill(t, disk)
			var refused error
			for refused == nil {
				refused = w.batch(ctx)
			}
			if !fault.Is(refused, fault.Unavailable) {
				t.Errorf("refused with %v (%v)", refused, fault.KindOf(refused))
			}
			if h := e.Health(); h.ReadOnly == nil || fault.Next(h.ReadOnly) == "" {
				t.Errorf("health: %+v", h)
			}
			w.verify(ctx, t)
			free()
			if err := writable(e); err != nil {
				t.Fatal(err)
			}
			if err := w.batch(ctx); err != nil {
				t.Fatal(err)
			}
			w.verify(ctx, t)
			if err := errors.Join(s.Close(), e.Close()); err != nil {
				t.Fatal(err)
			}
			e, s, err = openedAt(ctx, filepath.Join(disk, "data"), o)
			if err != nil {
				t.Fatal(err)
			}
			w.shard = s
			w.verify(ctx, t)
			if err := errors.Join(s.Close(), e.Close()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestOpeningOnAFullDisk opens a folder for which there is no space: it can be read,
// and written once there is some.
func TestOpeningOnAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	o := embedded.Options{Logger: quiet, Memory: 4 << 20, Ballast: -1}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, s, err := openedAt(ctx, filepath.Join(disk, "data"), o)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{shard: s}
	if err := w.batch(ctx); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	free := fill(t, disk)
	if e, s, err = openedAt(ctx, filepath.Join(disk, "data"), o); err != nil {
		t.Fatal(err)
	}
	w.shard = s
	w.verify(ctx, t)
	if err := w.batch(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a write: %v", err)
	}
	free()
	if err := writable(e); err != nil {
		t.Fatal(err)
	}
	if err := w.batch(ctx); err != nil {
		t.Error(err)
	}
	w.verify(ctx, t)
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
}

func openedAt(ctx context.Context, dir string, o embedded.Options) (*embedded.Engine, shard.Shard, error) {
	e, err := embedded.Open(ctx, dir, o)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.Open(ctx, first, whole(), shard.Settings{})
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, s, nil
}

// TestTakenUpOnAFullDisk: the placement names what was staged, and the process was killed before
// it took it up. On a disk that is full by then it is read all the same, and when there is space
// written.
func TestTakenUpOnAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	t.Chdir(disk)
	defer func() { _ = os.Chdir("/") }() // a disk in use is not unmounted
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, rng := newReshaped(), rand.New(rand.NewPCG(1, 2))
	steps := func(all ...func() error) {
		t.Helper()
		for _, step := range all {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	agrees := func() error { return r.agree(ctx) }
	opens := func() error { return r.open(ctx, vfs.Default) }
	writes := func() error { return r.write(ctx, rng, 100) }
	steps(opens, writes, func() error { return r.change(ctx, rng) }, writes)
	left, half := r.placed.Shards[0], r.placed.Shards[0].Range
	half.To = half.From + (half.To-half.From)/2
	to := []shard.Incarnation{{Number: left.Number, Term: left.Term + 1, Range: half}, {Number: r.placed.Next, Term: left.Term + 1, Range: routing.Range{From: half.To + 1, To: left.Range.To}}}
	steps(func() error {
		staged, err := r.engine.Stage(ctx, 7, []uint32{left.Number}, to)
		return errors.Join(err, staged.Close())
	})
	r.place(shardtest.HandedOver(r.placed, []uint32{left.Number}, to))
	r.close()
	free := fill(t, disk)
	steps(opens, agrees)
	if r.engine.Health().ReadOnly == nil {
		t.Error("writes are taken, nothing was tried")
	}
	free()
	steps(func() error { return writable(r.engine) }, agrees, writes, agrees)
	r.close()
	steps(opens, agrees)
	r.close()
}
