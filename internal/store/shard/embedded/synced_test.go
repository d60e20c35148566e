package embedded_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// dam holds back the syncs of the log, while it is up.
type dam struct {
	up      atomic.Pointer[chan struct{}]
	waiting chan struct{} // told when a sync begins to wait
}

func (d *dam) String() string { return "dam" }

func (d *dam) MaybeError(op errorfs.Op) error {
	if up := d.up.Load(); up != nil && op.Kind == errorfs.OpFileSyncData && strings.HasSuffix(op.Path, ".log") {
		select {
		case d.waiting <- struct{}{}:
		default:
		}
		<-*up
	}
	return nil
}

// TestNobodySeesWhatACrashCouldTakeBack holds the sync of a write back, and asks for
// it in every way: what is not synced is waited for, or not shown.
func TestNobodySeesWhatACrashCouldTakeBack(t *testing.T) {
	d := &dam{waiting: make(chan struct{}, 1)}
	e, s, err := opened(small(errorfs.Wrap(vfs.NewMem(), d)))
	if err != nil {
		t.Fatal(err)
	}
	old, op := benchOp(1), benchOp(2)
	if r := s.Write(t.Context(), 1, []shard.Op{old}); r[0].Err != nil {
		t.Fatal(r[0].Err)
	}
	up := make(chan struct{})
	d.up.Store(&up)
	wrote := make(chan shard.Result, 1)
	go func() { wrote <- s.Write(context.Background(), 1, []shard.Op{op})[0] }()
	<-d.waiting // it is applied, and its sync waits

	conflicting := op
	conflicting.MustCreate = true
	stale := op
	stale.Condition = document.Condition{SeqNo: 0, PrimaryTerm: 1, Version: document.Unset}
	short := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), 20*time.Millisecond)
	}
	for name, ask := range map[string]func(ctx context.Context) error{
		"a get": func(ctx context.Context) error {
			_, _, err := s.Get(ctx, 1, shard.Ref{Key: op.Key, ID: op.ID})
			return err
		},
		"a conflict": func(ctx context.Context) error { return s.Write(ctx, 1, []shard.Op{conflicting})[0].Err },
		"a condition that fails": func(ctx context.Context) error {
			return s.Write(ctx, 1, []shard.Op{stale})[0].Err
		},
		"a refresh": func(ctx context.Context) error { _, err := s.Refresh(ctx); return err },
		"a fence":   func(ctx context.Context) error { _, _, err := s.Fence(ctx); return err },
	} {
		ctx, cancel := short()
		if err := ask(ctx); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s was answered before the sync: %v", name, err)
		}
		cancel()
	}
	for c := range s.Changes(t.Context(), shard.Position{Incarnation: 1, SeqNo: -1}, 10) {
		if c.SeqNo > 0 {
			t.Errorf("a follower was shown change %d", c.SeqNo)
		}
	}
	if row, found, err := s.Get(t.Context(), 1, shard.Ref{Key: old.Key, ID: old.ID}); !found || err != nil || row.SeqNo != 0 {
		t.Errorf("what is synced is not told: %+v %t %v", row, found, err)
	}
	if stats := s.Stats(); stats.Synced != 0 || stats.SeqNo != 1 || stats.Refreshed != -1 {
		t.Errorf("%+v", stats)
	}

	d.up.Store(nil)
	close(up)
	if r := <-wrote; r.Err != nil || r.SeqNo != 1 {
		t.Errorf("%+v", r)
	}
	if r := s.Write(t.Context(), 1, []shard.Op{conflicting})[0]; !errors.As(r.Err, new(*shard.Conflict)) || r.SeqNo != 1 {
		t.Errorf("%+v", r)
	}
	if seqNo, err := s.Refresh(t.Context()); seqNo != 1 || err != nil {
		t.Errorf("%d %v", seqNo, err)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
}
