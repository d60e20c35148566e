package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// PlacementOf is the newest placement of an index, as the coordination store has it.
func (s *Store) PlacementOf(ctx context.Context, name string) (placement.Placement, error) {
	idx := s.view.Load().indices[name]
	if idx == nil {
		return placement.Placement{}, exception.NoSuchIndex(name)
	}
	return s.Placement(ctx, idx.entry.Number)
}

// ChangePlacement changes what a placement says of a reshaping, and nobody's ownership: the
// edit gets the newest placement and gives its successor, whose Version is raised here, or
// the same again to leave it as it is. It may be called several times. An index that is gone
// is fault.NotFound; fault.Unavailable when it is not known whether the change was made.
func (s *Store) ChangePlacement(ctx context.Context, index uint32, edit func(placement.Placement) (placement.Placement, error)) (placement.Placement, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return placement.Placement{}, err
	}
	defer unlock()
	for {
		record, p, err := s.readPlacement(ctx, index)
		if err != nil {
			return p, err
		}
		next, err := edit(p)
		if err != nil {
			return p, err
		}
		if bytes.Equal(next.Encode(), p.Encode()) {
			return p, nil
		}
		if !slices.Equal(next.Shards, p.Shards) || next.Index != p.Index || next.Next < p.Next {
			return p, fault.New(fault.Bug, "a change of placement that is no hand-off changes who owns what: %v after %v", next, p)
		}
		next.Version = p.Version + 1
		value := next.Encode()
		if next, err = placement.Decode(value); err != nil { // before it is written, not after
			return p, fault.Wrap(fault.Bug, err)
		}
		switch err = s.swap(context.WithoutCancel(ctx), record, value); {
		case err == nil:
			return next, s.place(context.WithoutCancel(ctx), s.view.Load().numbered(index), next)
		case !fault.Is(err, fault.Conflict):
			return p, err
		}
	}
}

// readPlacement is the newest placement of an index that the view has, with its record. The
// caller holds s.admin.
func (s *Store) readPlacement(ctx context.Context, index uint32) (coord.Record, placement.Placement, error) {
	if s.view.Load().numbered(index) == nil {
		return coord.Record{}, placement.Placement{}, gone(index)
	}
	record, err := s.coord.Get(ctx, placementKey(index))
	if err != nil {
		return record, placement.Placement{}, fault.At(err, placementKey(index))
	}
	p, err := s.read.decode(index, record)
	return record, p, err
}

// NewestPlacement is that of an index by its number; fault.NotFound as soon as the index has been
// deleted, though its shards may have readers for longer.
func (s *Store) NewestPlacement(ctx context.Context, index uint32) (placement.Placement, error) {
	if s.view.Load().numbered(index) == nil {
		return placement.Placement{}, gone(index)
	}
	return s.Placement(ctx, index)
}

func gone(index uint32) error {
	return fault.New(fault.NotFound, "index number %d was deleted", index)
}

// swapTries is how often a change is made while it is not known how the last try has ended.
const swapTries = 5

// swap changes a record. While it is not known how a try has ended, the same change is made
// again, which happens once because it quotes a revision. fault.Conflict: somebody else was
// faster.
func (s *Store) swap(ctx context.Context, old coord.Record, value []byte) error {
	for round := 1; ; round++ {
		_, err := s.coord.Swap(ctx, old.Key, old.Revision, value)
		if fault.Is(err, fault.Conflict) {
			found, reading := s.coord.Get(ctx, old.Key)
			switch {
			case reading == nil && bytes.Equal(found.Value, value):
				return nil
			case reading == nil:
				return err
			}
			err = reading
		}
		if err == nil || refused(err) || round >= swapTries {
			return fault.At(err, old.Key)
		}
		if waited := pause(ctx, round); waited != nil {
			return fault.At(joined(err, waited), old.Key)
		}
	}
}

// refused reports whether an error says that a change was not made. Others leave it open.
func refused(err error) bool {
	for _, kind := range []fault.Kind{fault.NotFound, fault.Refused, fault.Limit, fault.Usage, fault.Unauthorised} {
		if fault.Is(err, kind) {
			return true
		}
	}
	return false
}

// Stage prepares what shards of an index are to become; see shard.Engine. Without a fence it
// makes the one behind it short.
func (s *Store) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	if s.view.Load().numbered(index) == nil {
		return nil, gone(index)
	}
	return s.engine.Stage(ctx, index, from, to)
}

// Unstage removes what is staged of an index and not named by its placement, and nothing that a
// hand-off under way is about to name: it waits for its end.
func (s *Store) Unstage(ctx context.Context, index uint32) error {
	if err := s.handing.take(ctx); err != nil {
		return err
	}
	defer s.handing.leave()
	return s.engine.Unstage(ctx, index, s)
}

// Shed lets a shard write one segment again without what another shard shows of it; see
// shard.Shard. A shard that is gone has nothing to shed.
func (s *Store) Shed(ctx context.Context, index, number uint32, wrote func(ctx context.Context, bytes int) error) (read, left int64, err error) {
	idx := s.view.Load().numbered(index)
	if idx == nil || idx.shards[number] == nil {
		return 0, 0, nil
	}
	return idx.shards[number].Shed(ctx, wrote)
}

// Readers are readers of shards of an index, as the last refresh of each shows it, in the
// order of numbers. The caller closes them.
func (s *Store) Readers(ctx context.Context, index uint32, numbers []uint32) (readers []shard.Reader, err error) {
	idx := s.view.Load().numbered(index)
	if idx == nil {
		return nil, gone(index)
	}
	defer func() {
		if err != nil {
			for _, r := range readers {
				err = joined(err, r.Close())
			}
			readers = nil
		}
	}()
	for _, number := range numbers {
		row, named := idx.placement.Shard(number)
		sh := idx.shards[number]
		if !named || sh == nil {
			return readers, fault.New(fault.Stale, "index %s has no open shard %d", idx.record.Name, number)
		}
		r, err := sh.Acquire(ctx, row.Epoch)
		if err != nil {
			return readers, err
		}
		readers = append(readers, r)
	}
	return readers, nil
}
