package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// failing is a file system of which some operations fail.
type failing struct {
	cause    error
	from, to int64 // the numbers of the operations that fail, of those that change something
	seen     atomic.Int64
	hit      atomic.Int64
	last     atomic.Pointer[string]
}

func (f *failing) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsRead || op.Kind == errorfs.OpFileClose || op.Kind == errorfs.OpLock {
		return nil
	}
	if n := f.seen.Add(1); n < f.from || n >= f.to {
		return nil
	}
	what := fmt.Sprint(op.Kind, " ", op.Path)
	f.last.Store(&what)
	f.hit.Add(1)
	return f.cause
}

func (f *failing) String() string { return "failing" }

// TestEveryFileOperationFails lets each operation that changes a file fail, once or
// some times in a row, under a script that goes on writing: nothing that was
// acknowledged is lost, then or after a crash, and writes are taken again.
func TestEveryFileOperationFails(t *testing.T) {
	step := int64(2)
	if testing.Short() {
		step = 29
	}
	for _, kind := range []struct {
		name  string
		cause error
		times int64
	}{
		{"an error", syscall.EIO, 1},
		{"errors", syscall.EIO, 7},
		{"a full disk", syscall.ENOSPC, 7},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for k := int64(1); ; k += step {
				f := &failing{cause: kind.cause, from: k, to: k + kind.times}
				if err := underFailure(f); err != nil {
					at := ""
					if p := f.last.Load(); p != nil {
						at = *p
					}
					t.Fatalf("operations from %d (%d failed, the last %s): %v", k, f.hit.Load(), at, err)
				}
				if f.hit.Load() == 0 {
					break // the script is over before
				}
			}
		})
	}
}

// patience is how long a folder may take to be open again.
const patience = 20 * time.Second

func underFailure(f *failing) error {
	mem, h := vfs.NewCrashableMem(), &history{acked: -1, pruned: -1}
	rng := rand.New(rand.NewPCG(1, 2))
	e, s, err := untilOpened(small(errorfs.Wrap(mem, f)))
	if err != nil {
		return err
	}
	for range 25 {
		if h.write(s, random(rng, 1+rng.IntN(30))) {
			continue
		}
		if err := h.settle(e, s); err != nil {
			return err
		}
	}
	if err := h.settle(e, s); err != nil {
		return err
	}
	crashed := crash{fs: mem.CrashClone(vfs.CrashCloneCfg{}), issued: h.ops, acked: h.acked, pruned: -1}
	if err := errors.Join(s.Close(), e.Close()); err != nil && !fault.Is(err, fault.Unavailable) {
		return err
	}
	closed := crash{fs: mem.CrashClone(vfs.CrashCloneCfg{}), issued: h.ops, acked: h.acked, pruned: -1}
	return errors.Join(crashed.check(), closed.check())
}

// untilOpened tries again while opening meets the failure.
func untilOpened(o embedded.Options) (*embedded.Engine, shard.Shard, error) {
	for {
		e, s, err := opened(o)
		if !fault.Is(err, fault.Unavailable) {
			return e, s, err
		}
	}
}

// writable waits until writes are taken again.
func writable(e *embedded.Engine) error {
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		h := e.Health()
		if h.ReadOnly == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("still read-only: %w", h.ReadOnly)
		}
	}
}

// settle waits until the folder is open again and takes over what the shard says to be
// there, as far as it was asked for. Another failure may come meanwhile.
func (h *history) settle(e *embedded.Engine, s shard.Shard) error {
	for {
		if err := writable(e); err != nil {
			return err
		}
		_, err := s.Refresh(context.Background())
		if err == nil {
			err = check(s, h.ops, h.acked, -1)
		}
		if err == nil {
			h.acked = s.Stats().SeqNo
		}
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
	}
}

// TestReadsGoOnWhileTheDiskIsFull fills the disk for good, reads, and gives space back.
func TestReadsGoOnWhileTheDiskIsFull(t *testing.T) {
	mem := vfs.NewMem()
	f := &failing{cause: syscall.ENOSPC, from: 1 << 60, to: 1 << 60}
	e, s, err := opened(small(errorfs.Wrap(mem, f)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	before := []shard.Op{benchOp(1), benchOp(2)}
	for _, r := range s.Write(ctx, 1, before) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if _, err := s.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := s.Acquire(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1, TotalBytes: 1 << 30})
	f.to = 1 << 61
	f.seen.Store(1 << 60)
	for i, unknown := 3, false; !unknown; i++ {
		err := s.Write(ctx, 1, []shard.Op{benchOp(i)})[0].Err
		unknown = errors.As(err, new(*shard.Unknown))
		if !unknown && !fault.Is(err, fault.Unavailable) {
			t.Fatalf("a write on a full disk: %v", err)
		}
		if !unknown && e.Health().ReadOnly != nil {
			break // refused before it was tried
		}
	}
	if h := e.Health(); !fault.Is(h.ReadOnly, fault.Unavailable) || fault.Next(h.ReadOnly) == "" {
		t.Errorf("health says %v", h.ReadOnly)
	}
	for _, op := range before {
		row, found, err := s.Get(ctx, 1, shard.Ref{Key: op.Key, ID: op.ID})
		if err != nil || !found || string(row.Source) != string(op.Source) {
			t.Errorf("get: %t %v", found, err)
		}
	}
	n := 0
	for _, err := range r.Scan(ctx, shard.Select{Range: routing.Whole}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("the reader shows %d", n)
	}
	r.Close()
	f.seen.Store(1 << 62)
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	if err := writable(e); err != nil {
		t.Fatal(err)
	}
	if r := s.Write(ctx, 1, []shard.Op{benchOp(9)}); r[0].Err != nil {
		t.Error(r[0].Err)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
