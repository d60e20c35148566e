package embedded

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Placed has epoch 0 when the placement does not name the shard.
func (s *local) Placed() placement.Shard { return s.gate.now() }

// take makes a placement the shard's own, unless it knows a newer, and counts again
// what is in its range when that is another. The mutex is held.
func (s *local) take(db *store, p placement.Placement) error {
	g := &s.gate
	row, named := p.Shard(s.id.Number)
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.Version < g.version {
		return nil
	}
	if !named {
		g.version, g.placed = p.Version, placement.Shard{Number: s.id.Number}
		return nil
	}
	if err := s.own(db, row.Range); err != nil {
		return err
	}
	g.version, g.placed = p.Version, row
	return nil
}

// own makes the range of a placement that of the counts. The mutex is held.
func (s *local) own(db *store, within routing.Range) error {
	if s.state.within == within {
		return nil
	}
	return s.recount(db, within)
}

// Reload takes a placement that does not exist for one that does not name the shard.
func (s *local) Reload(ctx context.Context) error {
	end, err := s.begin(0)
	if err != nil {
		return err
	}
	defer end()
	p, err := s.placements.Placement(ctx, s.id.Index)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return fault.At(err, place(s.id))
	}
	if err != nil {
		s.gate.disown()
		return nil
	}
	x := s.segments
	if x == nil {
		if taken, err := s.become(p); taken || err != nil {
			return err
		}
		_, err := s.adopt(p)
		return err
	}
	grown := false
	err = x.inTurn(ctx, nil, func() error {
		if taken, err := s.become(p); taken || err != nil {
			return err
		}
		if row, named := p.Shard(s.id.Number); named {
			if err := x.narrowStored(row.Range); err != nil {
				return s.failure(err)
			}
		}
		grown, err = s.adopt(p)
		return err
	})
	if err == nil && grown {
		_, err = x.refresh(ctx)
	}
	s.countLater()
	return err
}

// adopt takes a placement, and shows no more than it leaves to the shard. It reports
// whether segments are missing for what it adds.
func (s *local) adopt(p placement.Placement) (grown bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	db, done, err := s.use()
	if err != nil {
		return false, err
	}
	defer done()
	if err := s.take(db, p); err != nil {
		return false, err
	}
	err = s.narrow()
	return s.published.within != s.state.within, err
}

// Fence waits for another one to be released, within ctx. A release that cannot
// read the placement fails, and the shard stays fenced: call it again, or Reload
// and then again.
func (s *local) Fence(ctx context.Context) (int64, func(context.Context) error, error) {
	fence, err := s.gate.shut(ctx)
	if err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	last := s.state.last
	s.mu.Unlock()
	if err := s.mark.await(ctx, last); err != nil {
		s.gate.lift(fence)
		return 0, nil, fault.At(err, place(s.id))
	}
	return last, func(ctx context.Context) error { return s.release(ctx, fence) }, nil
}

func (s *local) release(ctx context.Context, fence chan struct{}) error {
	if !s.gate.stands(fence, nil) {
		return nil
	}
	if err := s.Reload(ctx); err != nil {
		s.gate.stands(fence, err)
		return err
	}
	s.gate.lift(fence)
	return nil
}
