package store_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store/placement"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// countsReads counts how often placements are read.
type countsReads struct {
	coord.Store
	reads atomic.Int64
}

func (c *countsReads) Get(ctx context.Context, key string) (coord.Record, error) {
	if strings.HasPrefix(key, "placement/") {
		c.reads.Add(1)
	}
	return c.Store.Get(ctx, key)
}

// TestShardsThatStayAreNotTold: what is noted of a reshaping takes as long with many shards as
// with one. A split into 200 told each of its 200 shards of each of its 400 steps, and took
// minutes.
func TestShardsThatStayAreNotTold(t *testing.T) {
	c := &countsReads{Store: coordmemory.New()}
	r := reshaped(t, c, shardmemory.New(shardmemory.Options{}), `"refresh_interval":-1`)
	r.split(0, 20)
	before := c.reads.Load()
	p, err := r.store.ChangePlacement(r.ctx, r.index, func(p placement.Placement) (placement.Placement, error) {
		p.Last.Why = "a note"
		return p, nil
	})
	if err != nil || len(p.Shards) != 20 {
		t.Fatalf("%v, %v", p, err)
	}
	if n := c.reads.Load() - before; n > 1 {
		t.Errorf("the placement was read %d times", n)
	}
}
