package embedded

import (
	"context"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// maxQueued is how many requests wait at most for a fence of one shard.
const maxQueued = 4096

// gate decides who is admitted to a shard, and knows how many are inside: each
// holds a permit. It blocks only those who wait for a fence.
type gate struct {
	id shard.ID

	mu      sync.Mutex
	placed  placement.Shard // epoch 0: the placement does not name the shard
	version int64           // of the placement that was read last
	fence   chan struct{}   // closed when the fence is released; nil: none
	cause   error           // why a release failed
	inside  int
	queued  int
	empty   chan struct{} // closed when nobody is inside any more; nil: nobody waits for that
	closed  bool
	waits   shard.Waits
}

// enter gives a permit to a request that quotes an epoch, within ctx, and says what
// the shard is. Without a permit the error is *Stale, of fault.Unavailable or
// fault.Limit.
func (g *gate) enter(ctx context.Context, epoch int64) (placement.Shard, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(ctx, epoch); err != nil {
		return placement.Shard{}, err
	}
	if g.placed.Epoch == 0 || g.placed.Epoch != epoch {
		return placement.Shard{}, g.stale(epoch)
	}
	g.inside++
	return g.placed, nil
}

// fenced reports whether enter would wait.
func (g *gate) fenced() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fence != nil
}

// stale is the refusal of a request. The mutex is held.
func (g *gate) stale(asked int64) error {
	return &shard.Stale{ID: g.id, Asked: asked, Epoch: g.placed.Epoch}
}

// over is the refusal of a request to a shard that is closed.
func over(id shard.ID, asked int64) error { return &shard.Stale{ID: id, Asked: asked} }

// open waits until there is no fence. The mutex is held, before and after.
func (g *gate) open(ctx context.Context, asked int64) error {
	var began time.Time
	defer func() {
		if !began.IsZero() {
			g.waits.Add(time.Since(began))
		}
	}()
	for {
		switch {
		case g.closed:
			return over(g.id, asked)
		case ctx.Err() != nil:
			return g.waited(ctx)
		case g.fence == nil:
			return nil
		case g.queued >= maxQueued:
			return fault.At(fault.New(fault.Limit, "%d requests wait for its fence", g.queued), g.place())
		}
		if began.IsZero() {
			began = time.Now()
		}
		fence := g.fence
		g.queued++
		g.mu.Unlock()
		select {
		case <-fence:
		case <-ctx.Done():
		}
		g.mu.Lock()
		g.queued--
	}
}

// waited is the error of a request whose time ran out. It names why the shard
// stayed fenced, where that is known.
func (g *gate) waited(ctx context.Context) error {
	if g.fence != nil && g.cause != nil {
		return fault.At(fault.New(fault.Unavailable, "its placement cannot be read: %w", g.cause), g.place())
	}
	return fault.At(fault.Wrap(fault.Unavailable, context.Cause(ctx)), g.place())
}

// leave gives a permit back.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// drain waits until nobody is inside. The mutex is held, before and after.
func (g *gate) drain(ctx context.Context) error {
	for g.inside > 0 {
		if g.empty == nil {
			g.empty = make(chan struct{})
		}
		empty := g.empty
		g.mu.Unlock()
		select {
		case <-empty:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if ctx.Err() != nil && g.inside > 0 {
			return g.waited(ctx)
		}
	}
	return nil
}

// shut puts a fence up, after any other, and waits until nobody is inside.
func (g *gate) shut(ctx context.Context) (fence chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(ctx, 0); err != nil {
		return nil, err
	}
	fence = make(chan struct{})
	g.fence, g.cause = fence, nil
	if err := g.drain(ctx); err != nil {
		g.liftLocked(fence)
		return nil, err
	}
	return fence, nil
}

// lift takes a fence down that is still up.
func (g *gate) lift(fence chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.liftLocked(fence)
}

func (g *gate) liftLocked(fence chan struct{}) {
	if g.fence == fence {
		g.fence, g.cause = nil, nil
		close(fence)
	}
}

// stands reports whether a fence is still up, and notes why it stays so.
func (g *gate) stands(fence chan struct{}, cause error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fence != fence {
		return false
	}
	g.cause = cause
	return true
}

// close refuses everybody from now on and waits until nobody is inside.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.fence != nil {
		close(g.fence)
		g.fence = nil
	}
	_ = g.drain(context.Background())
}

// own makes a row of a placement the shard's.
func (g *gate) own(version int64, row placement.Shard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.version, g.placed = version, row
}

// disown takes the shard out of its placement.
func (g *gate) disown() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.placed.Epoch = 0
}

// now is the shard's row of the placement that was read last.
func (g *gate) now() placement.Shard {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.placed
}

// Waits are those since the shard was opened.
func (s *local) Waits() shard.Waits { return s.gate.waitedFor() }

// waitedFor counts those who have waited for a fence.
func (g *gate) waitedFor() shard.Waits {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waits
}

func (g *gate) place() string { return place(g.id) }
