package embedded_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// TestAStartOnADiskThatFillsUp: writing out what is in the log meets a full disk. The folder is read, and written to when
// there is space again.
func TestAStartOnADiskThatFillsUp(t *testing.T) {
	_, after, h := written(t, 30, 30, 30)
	var full atomic.Bool
	full.Store(true)
	fs := errorfs.Wrap(after.MemFS, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpFileWrite && (strings.HasSuffix(op.Path, ".blob") || strings.HasSuffix(op.Path, ".sst")) {
			return syscall.ENOSPC
		}
		return nil
	}))
	e, s, err := opened(small(vfs.FS(fs)))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Health().ReadOnly; err == nil || s.Stats().SeqNo != h.acked {
		t.Errorf("%d of %d are there: %v", s.Stats().SeqNo, h.acked, err)
	}
	if r := s.Write(context.Background(), 1, []shard.Op{benchOp(1)})[0]; r.Err == nil {
		t.Error("a write is taken")
	}
	full.Store(false)
	acked := h.acked
	if err := h.settle(e, s); err != nil || h.acked != acked { // a failure of before may end what reads meanwhile
		t.Fatalf("%d instead of %d: %v", h.acked, acked, err)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
