package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/shard"
)

// Options of an engine.
type Options struct {
	Clock func() time.Time // stamps changes; nil: time.Now
}

// Engine is a shard.Engine in memory.
type Engine struct {
	clock func() time.Time

	mu     sync.Mutex // guards what follows, and is taken before no other
	truths map[shard.ID]*truth
	staged map[shard.ID]staged
	open   map[shard.ID]*Shard // nil: it is about to be
	closed bool
}

var _ shard.Engine = (*Engine)(nil)

// New makes an engine without shards.
func New(o Options) *Engine {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Engine{clock: o.Clock, truths: map[shard.ID]*truth{}, staged: map[shard.ID]staged{}, open: map[shard.ID]*Shard{}}
}

// defaultAge is that of shard.Settings.
const defaultAge = 60 * time.Second

// Open reads the shard's placement first: without one there is no shard.
func (e *Engine) Open(ctx context.Context, id shard.ID, placements shard.Placements, settings shard.Settings) (shard.Shard, error) {
	placed, err := placements.Placement(ctx, id.Index)
	if err != nil {
		return nil, err
	}
	held, err := e.claim(id)
	if err != nil {
		return nil, err
	}
	if settings.MinimumAge == 0 {
		settings.MinimumAge = defaultAge
	}
	s := &Shard{engine: e, id: id, placements: placements, age: settings.MinimumAge, indexer: settings.Indexer, truth: held,
		placed: placement.Shard{Number: id.Number}, readers: map[*Reader]bool{}, refreshed: make(chan struct{})}
	s.idle = sync.NewCond(&s.mu)
	s.take(placed)
	s.publish()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[id] = s
	return s, nil
}

// claim is the truth of a shard that nobody else has open.
func (e *Engine) claim(id shard.ID) (*truth, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fault.New(fault.Unavailable, "the engine is closed")
	}
	if _, is := e.open[id]; is {
		return nil, fault.New(fault.Conflict, "shard %d of index %d is open already", id.Number, id.Index)
	}
	e.open[id] = nil
	if e.truths[id] == nil {
		e.truths[id] = newTruth()
	}
	return e.truths[id], nil
}

// release lets go of a shard that is closed. One that holds nothing leaves nothing.
func (e *Engine) release(id shard.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, id)
	if t := e.truths[id]; t != nil && t.last() < 0 && len(t.holds) == 0 {
		delete(e.truths, id)
	}
}

// Drop is fault.Conflict while a shard of the index is open.
func (e *Engine) Drop(_ context.Context, index uint32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.open {
		if id.Index == index {
			return fault.New(fault.Conflict, "shard %d of index %d is open", id.Number, id.Index)
		}
	}
	maps.DeleteFunc(e.truths, func(id shard.ID, _ *truth) bool { return id.Index == index })
	maps.DeleteFunc(e.staged, func(id shard.ID, _ staged) bool { return id.Index == index })
	return nil
}

// Indices are in ascending order.
func (e *Engine) Indices(context.Context) ([]uint32, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var indices []uint32
	for id := range e.truths {
		indices = append(indices, id.Index)
	}
	for id := range e.staged {
		indices = append(indices, id.Index)
	}
	slices.Sort(indices)
	return slices.Compact(indices), nil
}

// Health is always good.
func (e *Engine) Health() shard.Health { return shard.Health{} }

// Close is fault.Conflict while shards are open.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.open) > 0 {
		return fault.New(fault.Conflict, "%d shards are open", len(e.open))
	}
	e.closed = true
	return nil
}
