package memory

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// admit takes the mutex for a request that quotes an epoch, after any fence. With
// an error it is not held.
func (s *Shard) admit(ctx context.Context, epoch int64) error {
	waited, err := s.enter(ctx, epoch)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	if waited > 0 {
		s.waits.Add(waited)
	}
	if err != nil {
		return err
	}
	if s.placed.Epoch == 0 || s.placed.Epoch != epoch {
		err := s.stale(epoch)
		s.mu.Unlock()
		return err
	}
	return nil
}

// enter takes the mutex once there is no fence, and tells for how long there was one. With
// an error it is not held.
func (s *Shard) enter(ctx context.Context, epoch int64) (waited time.Duration, err error) {
	for {
		if ctx.Err() != nil {
			return waited, unavailable(ctx)
		}
		s.mu.Lock()
		fence, closed := s.fence, s.closed
		if closed {
			s.mu.Unlock()
			return waited, s.over(epoch)
		}
		if fence == nil {
			return waited, nil
		}
		s.mu.Unlock()
		begun := time.Now()
		select {
		case <-fence:
		case <-ctx.Done():
		}
		waited += max(time.Since(begun), 1)
	}
}

// Waits counts writes by their groups.
func (s *Shard) Waits() shard.Waits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits
}

// over is the refusal of a request to a shard that is closed.
func (s *Shard) over(asked int64) error { return &shard.Stale{ID: s.id, Asked: asked} }

func unavailable(ctx context.Context) error { return fault.Wrap(fault.Unavailable, ctx.Err()) }

// stale is the refusal of a request. The mutex is held.
func (s *Shard) stale(asked int64) error {
	return &shard.Stale{ID: s.id, Asked: asked, Epoch: s.placed.Epoch}
}

// owns checks that an admitted request asks for a key of the shard's range.
func (s *Shard) owns(key routing.Key) error {
	if s.placed.Range.Contains(key) {
		return nil
	}
	return s.stale(s.placed.Epoch)
}

// permit takes one. The mutex is held.
func (s *Shard) permit() {
	if s.permits++; s.permits == 1 {
		s.drained = make(chan struct{})
	}
}

// giveBack gives a permit back. The mutex is held.
func (s *Shard) giveBack() {
	if s.permits--; s.permits == 0 {
		close(s.drained)
		s.idle.Broadcast()
	}
}

// drain waits for the permits that are out. The mutex is held, but for the waiting.
func (s *Shard) drain(ctx context.Context) error {
	for s.permits > 0 {
		drained := s.drained
		s.mu.Unlock()
		select {
		case <-drained:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return unavailable(ctx)
		}
	}
	if s.closed {
		return s.over(0)
	}
	return nil
}

// Fence waits for another one to be released, within ctx. A release that cannot
// read the placement fails, and the shard stays fenced: call it again.
func (s *Shard) Fence(ctx context.Context) (int64, func(context.Context) error, error) {
	if _, err := s.enter(ctx, 0); err != nil {
		return 0, nil, err
	}
	defer s.mu.Unlock()
	fence := make(chan struct{})
	s.fence = fence
	if err := s.drain(ctx); err != nil {
		s.lower(fence)
		return 0, nil, err
	}
	return s.truth.last(), func(ctx context.Context) error { return s.lift(ctx, fence) }, nil
}

// lift ends a fence, once.
func (s *Shard) lift(ctx context.Context, fence chan struct{}) error {
	s.mu.Lock()
	over := s.fence != fence
	s.mu.Unlock()
	if over {
		return nil
	}
	if err := s.Reload(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lower(fence)
	return nil
}

// lower lets in who waits for a fence, once. The mutex is held.
func (s *Shard) lower(fence chan struct{}) {
	if s.fence == fence {
		s.fence = nil
		close(fence)
	}
}

// Reload takes a placement that does not exist for one that does not name the shard.
func (s *Shard) Reload(ctx context.Context) error {
	p, err := s.placements.Placement(ctx, s.id.Index)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.placed.Epoch = 0
		return nil
	}
	s.take(p)
	return nil
}

// take makes a placement that was read the shard's own, unless it knows a newer.
func (s *Shard) take(p placement.Placement) {
	if p.Version < s.version {
		return
	}
	s.version = p.Version
	row, named := p.Shard(s.id.Number)
	if !named {
		s.placed.Epoch = 0
		return
	}
	s.placed = row
	if s.become(row) {
		return
	}
	s.truth.recount(row.Range)
	s.published = s.published.over(row.Range)
}
