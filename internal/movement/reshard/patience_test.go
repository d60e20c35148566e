package reshard_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// full is an engine that has no room to stage anything for so many tries.
type full struct {
	shard.Engine
	tries atomic.Int64
	tells atomic.Bool // that it takes no writes
}

func (f *full) Health() shard.Health {
	health := f.Engine.Health()
	if f.tells.Load() && f.tries.Load() > 0 {
		health.ReadOnly = fault.WithNext(fault.New(fault.Unavailable, "the disk is nearly full"), "free space")
	}
	return health
}

func (f *full) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	if f.tries.Add(-1) >= 0 {
		return nil, fault.WithNext(fault.New(fault.Unavailable, "no space left on device"), "free space")
	}
	return f.Engine.Stage(ctx, index, from, to)
}

// TestAFullDiskIsWaitedOutOrHolds: what may pass is tried again, far more often than a piece is
// claimed, and what does not pass in time holds the movement with its cause, until it is resumed.
func TestAFullDiskIsWaitedOutOrHolds(t *testing.T) {
	h := newHouse(t, 1)
	h.must(h.store.Close())
	engine := &full{Engine: h.engine}
	var err error
	h.store, err = store.Open(h.ctx, h.coord, engine, store.Options{Logger: quiet})
	h.must(err)
	h.lane.Store = h.store

	engine.tries.Store(5)
	h.work(h.begin(false, by(2)), movement.Finished)

	defer reshard.SetPatience(500 * time.Millisecond)()
	engine.tries.Store(1 << 40)
	id := h.begin(false, by(2))
	m := h.work(id, movement.Held)
	if !strings.Contains(m.Cause, "no space left on device") || !strings.Contains(m.Next, "free space; then resume") {
		t.Errorf("it holds because of %q, and is told %q", m.Cause, m.Next)
	}
	engine.tries.Store(0)
	h.tell(id, movement.Resume)
	h.work(id, movement.Finished)
	if n := h.shards(); n != 4 {
		t.Errorf("%d shards", n)
	}
}

// TestAFullDiskIsWaitedFor as long as the store takes no writes: the status says so at once, and it goes on by itself.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	h := newHouse(t, 1)
	h.must(h.store.Close())
	engine := &full{Engine: h.engine}
	var err error
	h.store, err = store.Open(h.ctx, h.coord, engine, store.Options{Logger: quiet})
	h.must(err)
	h.lane.Store = h.store
	defer reshard.SetPatience(200 * time.Millisecond)()
	id := h.begin(false, by(2))
	engine.tells.Store(true)
	engine.tries.Store(1 << 40)
	ended := make(chan *movement.Record, 1)
	go func() {
		defer close(ended)
		ended <- h.work(id, movement.Finished)
	}()
	time.Sleep(time.Second)
	m, err := h.driver.Movement(h.ctx, id)
	h.must(err)
	if waits := h.lane.Waits(&m); m.State != movement.Running || waits == nil || !strings.Contains(waits.Error(), "the disk is nearly full") {
		t.Errorf("it is %s, and waits for %v", m.State, waits)
	}
	engine.tries.Store(0)
	if m := <-ended; m != nil && h.lane.Waits(m) != nil {
		t.Errorf("in the end it waits for %v", h.lane.Waits(m))
	}
}
