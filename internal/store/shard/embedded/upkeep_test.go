package embedded_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestUpkeepGoesOnWhileShardsMove mends, sheds, prunes and refreshes all shards without end, those
// that have handed everything off too, while shards are split and merged.
func TestUpkeepGoesOnWhileShardsMove(t *testing.T) {
	defer embedded.SetTiers(3, 2000, 3000)()
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	r := newReshaped()
	if err := r.open(t.Context(), vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	rng := rand.New(rand.NewPCG(33, 33))
	for round := range rounds {
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for _, s := range r.shards {
			for _, do := range []func(shard.Shard) error{
				func(s shard.Shard) error { return s.Mend(ctx) },
				func(s shard.Shard) error { _, _, err := s.Shed(ctx, nil); return err },
				func(s shard.Shard) error { return s.Prune(ctx, time.Now().Add(30*time.Second)) },
				func(s shard.Shard) error { _, err := s.Refresh(ctx); return err },
			} {
				working.Go(func() {
					for ctx.Err() == nil {
						if err := do(s); err != nil && ctx.Err() == nil && !errors.As(err, new(*shard.Stale)) {
							t.Errorf("round %d, shard %d: %v", round, s.ID().Number, err)
							return
						}
					}
				})
			}
		}
		err := r.play(t.Context(), rng, 1)
		stop()
		working.Wait()
		if err == nil {
			err = r.agree(t.Context())
		}
		if err != nil {
			t.Fatalf("round %d, shards %v: %v", round, r.placed, err)
		}
	}
}
