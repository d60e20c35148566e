package embedded

import (
	"context"
	"errors"
	"maps"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// readHolds are the holds of a shard as they are stored.
func readHolds(from pebble.Reader, id shard.ID) (map[string]shard.Position, error) {
	lower, upper := bounds(appendShard(nil, holdSpace, id))
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	holds := map[string]shard.Position{}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			name := it.Key()[shardPrefix : len(it.Key())-1]
			holds[string(name)], err = readPosition(value)
		}
	}
	return holds, errors.Join(err, it.Error(), it.Close())
}

// Hold of an older position than the name has changes nothing.
func (s *local) Hold(ctx context.Context, name string, p shard.Position) error {
	done, err := s.begin(p.Incarnation)
	if err != nil {
		return err
	}
	defer done()
	if err := s.engine.writable(ctx, len(name)); err != nil {
		return err
	}
	return s.synced(s.hold(name, p))
}

func (s *local) hold(name string, p shard.Position) (*change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if placed := s.gate.now(); placed.Term != p.Incarnation {
		return nil, &shard.Stale{ID: s.id, Asked: p.Incarnation, Epoch: placed.Epoch}
	}
	if p.SeqNo < s.state.pruned {
		return nil, s.expired(p)
	}
	if old, is := s.holds[name]; is && (old.SeqNo > p.SeqNo || old == p) {
		return nil, nil
	}
	c, err := s.applyHold(func(b *pebble.Batch, key []byte) error {
		return b.Set(key, encodePosition(p), nil)
	}, name)
	if err == nil {
		s.holds[name] = p
	}
	return c, err
}

// Release of a hold is possible when writes are refused.
func (s *local) Release(_ context.Context, name string) error {
	done, err := s.begin(0)
	if err != nil {
		return err
	}
	defer done()
	return s.synced(s.unhold(name))
}

func (s *local) unhold(name string) (*change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.holds[name]; !is {
		return nil, nil
	}
	c, err := s.applyHold(func(b *pebble.Batch, key []byte) error { return b.Delete(key, nil) }, name)
	if err == nil {
		delete(s.holds, name)
	}
	return c, err
}

// change is an applied batch and where it was applied.
type change struct {
	db    *store
	batch *pebble.Batch
}

// applyHold applies one change of a hold's key, not synced yet. The mutex is held.
func (s *local) applyHold(write func(b *pebble.Batch, key []byte) error, name string) (*change, error) {
	db, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	c := &change{db, db.NewBatch()}
	err = write(c.batch, holdKey(s.id, name))
	if err == nil {
		err = db.apply(c.batch)
	}
	if err != nil {
		return nil, s.failure(err)
	}
	return c, nil
}

// synced waits for the sync of a change, if there is one.
func (s *local) synced(c *change, err error) error {
	if err != nil || c == nil {
		return err
	}
	if err := c.db.await(c.batch); err != nil {
		return fault.At(&shard.Unknown{Cause: s.failure(err)}, place(s.id))
	}
	return nil
}

// Holds belong to the caller.
func (s *local) Holds() map[string]shard.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.holds)
}
