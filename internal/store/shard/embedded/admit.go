package embedded

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// pressEvery is how many bytes are written between two looks at the pressure.
const pressEvery = 4 << 20

// writable admits a write of size bytes: it is of fault.Unavailable when the disk is
// nearly full or has failed, and waits within ctx while Pebble is behind.
func (e *Engine) writable(ctx context.Context, size int) error {
	e.space.written.Add(int64(size))
	if err := e.refusal(); err != nil {
		return err
	}
	if e.written.Add(int64(size)) < pressEvery {
		return nil
	}
	for e.pressed() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fault.At(fault.New(fault.Unavailable, "writes wait for the disk: %w", context.Cause(ctx)), e.dir)
		}
		if err := e.refusal(); err != nil {
			return err
		}
	}
	e.written.Store(0)
	return nil
}

func (e *Engine) pressed() bool {
	db, done, err := e.use()
	if err != nil {
		return false
	}
	defer done()
	return db.pressed()
}

// crammed is how many times as much as they should segments in memory take, when writes are refused
// because they cannot be written to files.
const crammed = 8

// refusal is why writes are refused now.
func (e *Engine) refusal() error {
	if why := e.Health().ReadOnly; why != nil {
		return &shard.ReadOnly{Cause: why}
	}
	return nil
}

// Health tells whether writes are taken now.
func (e *Engine) Health() shard.Health {
	h := e.disk()
	if why := e.unwritten.Load(); why != nil && h.ReadOnly == nil && e.inRAM.Load() > crammed*e.tiers.held {
		h.ReadOnly = fault.At(fault.WithNext(fault.New(fault.Unavailable, "segments of %d bytes are in memory alone, since they cannot be written to files: %w", e.inRAM.Load(), *why),
			"mend what keeps the folder from being written; writes are taken again some seconds later"), e.files.dir)
	}
	return h
}

// disk tells whether the disk takes what is written.
func (e *Engine) disk() shard.Health {
	h := e.space.look()
	if failure := e.failure.Load(); failure != nil {
		h.ReadOnly = *failure
	}
	return h
}
