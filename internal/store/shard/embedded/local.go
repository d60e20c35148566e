package embedded

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
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
	stated    int // how often the state was taken from disk, or counted for another range
	corrected int // how often the documents of the state were counted wrongly
	holds     map[string]shard.Position
	published *view
	inherits  time.Time      // since when there may be tombstones that stand in no changes; zero: there are none
	views     map[*view]bool // that have a reader, and the published one
	idle      sync.Cond      // told when a reader closes
	indexing  chan struct{}  // what is published is not in segments yet; closed, and nil, when it is
	unindexed error          // why it cannot be, as far as is known; nil while nothing is indexing
	refreshed chan struct{}  // closed and replaced by each publication, closed for good by Close
	unopened  error          // why it could not be opened again with its folder; nil: it is open
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

// begin is called before work that needs no permit; done after it. A shard that is
// closed begins nothing more, and Close waits.
func (s *local) begin(asked int64) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, over(s.id, asked)
	}
	if s.unopened != nil {
		return nil, s.unopened
	}
	s.running.Add(1)
	return s.running.Done, nil
}

// use is Engine.use for what changes the shard, or makes something of its state: not while it could
// not be opened again, since the state is then not what is on disk. The mutex is held.
func (s *local) use() (db *store, done func(), err error) {
	if s.unopened != nil {
		return nil, nil, s.unopened
	}
	return s.engine.use()
}

// usable is why it could not be opened again; nil: it is open.
func (s *local) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unopened
}

// ID is the name under which it was opened.
func (s *local) ID() shard.ID { return s.id }

// Stats are of one instant, but for the counts of operations. An estimate may turn out too low.
func (s *local) Stats() shard.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	searchable := s.published.docs
	if s.unindexed != nil || s.unopened != nil { // while it is being indexed, a search waits, and sees them
		searchable = 0
	}
	return shard.Stats{
		Docs: max(s.state.docs, 0), Tombstones: max(s.state.tombstones, 0), Bytes: max(s.state.bytes, 0),
		SeqNo: s.state.last, Synced: s.mark.seqNo.Load(), Refreshed: s.published.seqNo, Pruned: s.state.pruned,
		Searchable: searchable, Segments: s.published.stack.count(), Estimated: s.state.estimated, Repairs: s.segments.counts(),
		Ops: shard.OpCounts{Index: s.ops.index.Load(), Delete: s.ops.remove.Load(), Get: s.ops.get.Load(), Refresh: s.ops.refresh.Load()},
	}
}

// Discard keeps Close from writing segments.
func (s *local) Discard() {
	if s.segments != nil {
		s.segments.discarded.Store(true)
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

func (s *local) failure(err error) error {
	if err == nil { // as each search asks
		return nil
	}
	return fault.At(failure(err), s.engine.dir, place(s.id))
}
