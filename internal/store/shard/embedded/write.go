package embedded

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// A group is what is written under one permit, in one batch.
const (
	maxGroupBytes = 1 << 20 // of ids, routing values and sources
	maxGroupOps   = 4096
)

// group is how many of the first ops go under one permit: at least one.
func group(ops []shard.Op) int {
	bytes := 0
	for i := range ops {
		bytes += opBytes(&ops[i])
		if i > 0 && (bytes > maxGroupBytes || i == maxGroupOps) {
			return i
		}
	}
	return len(ops)
}

func opBytes(op *shard.Op) int { return len(op.ID) + len(op.Routing) + len(op.Source) }

// Write applies each group at once. It holds a permit while a group is applied, not
// while it is synced: a fence waits for the mark by itself.
func (s *local) Write(ctx context.Context, epoch int64, ops []shard.Op) []shard.Result {
	results := make([]shard.Result, len(ops))
	done, err := s.begin(epoch)
	if err != nil {
		return refuse(results, err)
	}
	defer done()
	if s.segments != nil {
		s.segments.relieve(ctx) // with nothing of this write unsynced: it waits for the syncs of others
	}
	var unsynced []*applied
	for from := 0; from < len(ops); {
		to := from + group(ops[from:])
		if s.gate.fenced() {
			s.settle(ctx, unsynced) // nobody else would
			unsynced = nil
		}
		a, err := s.writeGroup(ctx, epoch, ops[from:to], results[from:to])
		if err != nil {
			refuse(results[from:], err)
			break
		}
		unsynced = append(unsynced, a)
		from = to
	}
	s.settle(ctx, unsynced)
	if x := s.segments; x != nil && x.pending.Load() >= s.engine.tiers.early {
		x.wake()
	}
	return results
}

func refuse(results []shard.Result, err error) []shard.Result {
	for i := range results {
		results[i] = shard.Result{Err: err}
	}
	return results
}

// applied is a group that is in the truth and may not be synced yet.
type applied struct {
	db      *store
	batch   *pebble.Batch // nil: nothing was applied
	last    int64         // what the answers depend on: the last number given, or met by a conflict
	life    int64         // of the mark, in which that is last
	results []shard.Result
}

// writeGroup applies one group under a permit. With an error nothing was.
func (s *local) writeGroup(ctx context.Context, epoch int64, ops []shard.Op, results []shard.Result) (*applied, error) {
	size := batchSize(ops)
	if err := s.engine.writable(ctx, size); err != nil {
		return nil, err
	}
	if _, err := s.gate.enter(ctx, epoch); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	packed := pack(ops)
	defer packed.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	placed := s.gate.now()
	if placed.Epoch != epoch { // a Reload came between
		return nil, &shard.Stale{ID: s.id, Asked: epoch, Epoch: placed.Epoch}
	}
	db, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	m := meetings.Get().(*meeting)
	defer meetings.Put(m)
	if err := s.meet(db, m, ops); err != nil {
		return nil, s.failure(err)
	}
	c := commit{shard: s, db: db, placed: placed, state: s.state, changes: m.changes[:0], last: -1}
	c.batch = db.NewBatchWithSize(size - packed.saved(ops))
	for i := range ops {
		results[i] = c.apply(&ops[i], packed.of(i), &m.rows[m.slots[i]])
	}
	a := &applied{db: db, last: c.last, life: s.mark.life.Load(), results: results}
	m.changes = c.changes
	if c.count == 0 {
		return a, c.batch.Close()
	}
	if err := c.finish(s.engine.options.Now()); err != nil {
		return nil, s.failure(err)
	}
	s.engine.busy(int64(len(ops)), true)
	s.state = c.state
	if s.segments != nil {
		s.segments.pending.Add(int64(size))
		for _, w := range c.wrote {
			s.segments.recent.add(w.op, w.versions, w.previous)
		}
	}
	a.batch = c.batch
	s.ops.index.Add(c.puts)
	s.ops.remove.Add(int64(c.count) - c.puts)
	return a, nil
}

// batchSize is about what the batch of ops takes, so that it grows once.
func batchSize(ops []shard.Op) int {
	size := 256
	for i := range ops {
		size += opBytes(&ops[i]) + len(ops[i].ID) + 64
	}
	return size
}

// settle waits until groups are synced and moves the mark. Operations of a group
// that is not are Unknown; conflicts with rows that are not are Unavailable.
func (s *local) settle(ctx context.Context, groups []*applied) {
	for _, a := range groups {
		var err error
		if a.batch != nil {
			if err = a.db.await(a.batch); err == nil {
				s.mark.reach(a.last)
			}
		} else {
			err = s.mark.awaitIn(ctx, a.life, a.last)
		}
		if err != nil {
			s.doubt(a.results, err)
		}
	}
}

// doubt takes back what a failed sync makes uncertain.
func (s *local) doubt(results []shard.Result, cause error) {
	for i := range results {
		var conflict *shard.Conflict
		switch r := &results[i]; {
		case r.Err == nil:
			*r = shard.Result{Err: &shard.Unknown{Cause: s.failure(cause)}}
		case errors.As(r.Err, &conflict):
			*r = shard.Result{Err: fault.Wrap(fault.Unavailable, s.failure(cause))}
		}
	}
}
