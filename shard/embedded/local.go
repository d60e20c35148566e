package embedded

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/shard"
)

// defaultAge is that of shard.Settings.
const defaultAge = 60 * time.Second

// local is one open shard of an Engine.
//
// Locks are taken in this order: mu, the engine's life, the gate's, the view's.
// Nobody waits for a mutex of a shard with the engine's life held.
type local struct {
	engine     *Engine
	id         shard.ID
	placements shard.Placements
	age        time.Duration
	lower      []byte // bounds of the index's rows
	upper      []byte

	gate    gate
	mark    mark
	running sync.WaitGroup // what goes on without a permit; see begin

	segments *segments // nil: there is no indexer

	mu        sync.Mutex // guards what follows: numbers are given and batches applied under it
	state     state
	holds     map[string]shard.Position
	published *view
	inherits  time.Time      // since when there may be tombstones that stand in no changes; zero: there are none
	views     map[*view]bool // that have a reader, and the published one
	idle      sync.Cond      // told when a reader closes
	indexing  chan struct{}  // what is published is not in segments yet; closed, and nil, when it is
	refreshed chan struct{}  // closed and replaced by each publication, closed for good by Close
	closed    bool           // refuses everybody
	gone      bool           // and has let go of Pebble

	ops struct{ index, remove, get, refresh atomic.Int64 }
}

var _ shard.Shard = (*local)(nil)

func newLocal(e *Engine, id shard.ID, placements shard.Placements, settings shard.Settings) *local {
	s := &local{engine: e, id: id, placements: placements, age: settings.MinimumAge,
		holds: map[string]shard.Position{}, views: map[*view]bool{}, refreshed: make(chan struct{})}
	s.gate.id, s.idle.L = id, &s.mu
	s.lower, s.upper = bounds(appendIndex(nil, rowSpace, id.Index))
	if s.age == 0 {
		s.age = defaultAge
	}
	s.segments = newSegments(s, settings.Indexer)
	return s
}

// load reads what is stored of the shard and publishes it.
func (s *local) load(p placement.Placement) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db, done, err := s.engine.use()
	if err != nil {
		return err
	}
	defer done()
	from, taken := pebble.Reader(db), false
	row, named := p.Shard(s.id.Number)
	if named {
		if from, taken, err = s.takeUp(db, row.Term); err != nil {
			return err
		}
	}
	if err := s.read(from); err != nil {
		return err
	}
	term := int64(0)
	if taken {
		s.state.within, term = row.Range, row.Term
	}
	if err := s.take(db, p); err != nil {
		return err
	}
	if row := s.gate.now(); s.inherits.IsZero() && row.Epoch > 1 && (s.state.tombstones > 0 || s.state.estimated) {
		s.inherits = s.engine.options.Now() // it has changed hands, and was perhaps closed before it had looked
	}
	return s.loadSegments(db, from, term)
}

// loadSegments reads what is stored of the segments, and publishes all that there is. From is
// what takeUp gave, and taken the term if it took up something. The mutex is held.
func (s *local) loadSegments(db *store, from pebble.Reader, taken int64) error {
	if x := s.segments; x != nil {
		st, err := x.load(from, taken)
		if err == nil {
			err = x.narrowStored(s.state.within)
		}
		if err != nil {
			st.release()
			return s.failure(err)
		}
		x.set(st)
	}
	return s.showAll(db)
}

// showAll publishes all that there is, which is synced. The mutex is held.
func (s *local) showAll(db *store) error {
	v := s.view(db)
	if s.segments != nil {
		s.segments.takeRecent().drop() // it may be gone
	}
	if x := s.segments; x != nil && x.behind(v) {
		x.later(v)
	} else if x != nil {
		st, err := x.next(x.ctx, v, x.stack)
		if err != nil {
			return errors.Join(s.failure(err), v.drop())
		}
		x.set(st)
		v.stack = st.retain()
		if st.indexed != x.committed.Load() || st.redone > 0 {
			x.arm(commitAfter)
		}
	}
	return s.publish(v)
}

// read takes state and holds from disk, where nothing else is known. The mutex is held.
func (s *local) read(from pebble.Reader) error {
	err := s.readStored(from)
	s.mark.reset(s.state.last)
	return err
}

// readStored takes state and holds from disk. The mutex is held.
func (s *local) readStored(from pebble.Reader) error {
	s.state = state{last: -1, pruned: -1, within: s.state.within}
	value, closer, err := from.Get(stateKey(s.id))
	switch {
	case errors.Is(err, pebble.ErrNotFound):
	case err != nil:
		return s.failure(err)
	default:
		s.state, err = readState(value)
		if err = errors.Join(err, closer.Close()); err != nil {
			return s.failure(err)
		}
	}
	s.holds, err = readHolds(from, s.id)
	return s.failure(err)
}

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
	if s.state.within != row.Range {
		if err := s.recount(db, row.Range); err != nil {
			return err
		}
	}
	g.version, g.placed = p.Version, row
	return nil
}

// begin is called before work that needs no permit; done after it. A shard that is
// closed begins nothing more, and Close waits.
func (s *local) begin(asked int64) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, over(s.id, asked)
	}
	s.running.Add(1)
	return s.running.Done, nil
}

// ID is the name under which it was opened.
func (s *local) ID() shard.ID { return s.id }

// Placed has epoch 0 when the placement does not name the shard.
func (s *local) Placed() placement.Shard { return s.gate.now() }

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
	db, done, err := s.engine.use()
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

// Stats are of one instant, but for the counts of operations.
func (s *local) Stats() shard.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return shard.Stats{
		Docs: s.state.docs, Tombstones: s.state.tombstones, Bytes: s.state.bytes,
		SeqNo: s.state.last, Synced: s.mark.seqNo.Load(), Refreshed: s.published.seqNo, Pruned: s.state.pruned,
		Segments: s.published.stack.count(),
		Ops:      shard.OpCounts{Index: s.ops.index.Load(), Delete: s.ops.remove.Load(), Get: s.ops.get.Load(), Refresh: s.ops.refresh.Load()},
	}
}

// Close refuses the requests that wait for a fence or a refresh. Closing again is
// harmless, and waits for nothing.
func (s *local) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.refreshed)
	if s.segments != nil {
		s.segments.halt()
	}
	s.mu.Unlock()
	s.gate.close()
	s.running.Wait()
	if s.segments != nil {
		s.segments.finish()
		defer s.segments.sweep()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.readers() > 0 {
		s.idle.Wait()
	}
	err := s.published.drop()
	if s.segments != nil {
		s.segments.set(nil)
		s.segments.takeRecent().drop()
	}
	s.gone = true
	s.engine.forget(s.id)
	return s.failure(err)
}

func (s *local) failure(err error) error { return fault.At(failure(err), s.engine.dir, place(s.id)) }
