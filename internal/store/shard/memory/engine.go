package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Options of an engine.
type Options struct {
	Clock func() time.Time // stamps changes; nil: time.Now
	// Durable is asked to make a change durable, which has so many parts: it calls change with
	// how many of the first of them it has made so, at once and once, and returns when the
	// caller may go on; its error says that not all are, or that nobody knows. What is the
	// verb and what it is about. Change does not wait for anything. Nil: all at once.
	Durable func(ctx context.Context, what string, parts int, change func(made int)) error
}

// Engine is a shard.Engine in memory.
type Engine struct {
	options Options

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
	if o.Durable == nil {
		o.Durable = func(_ context.Context, _ string, parts int, change func(int)) error {
			change(parts)
			return nil
		}
	}
	return &Engine{options: o, truths: map[shard.ID]*truth{}, staged: map[shard.ID]staged{}, open: map[shard.ID]*Shard{}}
}

// Reopened is an engine of its own with what is durable in this one, as the next process finds
// it: nothing is open, and nothing that is done here any more is seen there.
func (e *Engine) Reopened(o Options) *Engine {
	next := New(o)
	e.mu.Lock()
	open := slices.Collect(maps.Values(e.open))
	maps.Copy(next.truths, e.truths)
	maps.Copy(next.staged, e.staged)
	e.mu.Unlock()
	for _, s := range open {
		if s != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
		}
	}
	for id, t := range next.truths {
		next.truths[id] = t.copy()
	}
	for id, s := range next.staged {
		if s.truth != nil {
			next.staged[id] = staged{s.term, s.truth.copy()}
		}
	}
	return next
}

// one asks for a change of one part to be made durable.
func (e *Engine) one(ctx context.Context, what string, change func()) error {
	return e.options.Durable(ctx, what, 1, func(made int) {
		if made > 0 {
			change()
		}
	})
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
		placed: placement.Shard{Number: id.Number}, readers: map[*Reader]bool{}, staging: make(chan struct{}, 1), refreshed: make(chan struct{})}
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
func (e *Engine) Drop(ctx context.Context, index uint32) error {
	if err := e.shut(func(id shard.ID) bool { return id.Index == index }); err != nil {
		return err
	}
	return e.one(ctx, fmt.Sprintf("drop %d", index), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		maps.DeleteFunc(e.truths, func(id shard.ID, _ *truth) bool { return id.Index == index })
		maps.DeleteFunc(e.staged, func(id shard.ID, _ staged) bool { return id.Index == index })
	})
}

// shut is fault.Conflict while one of some shards is open.
func (e *Engine) shut(of func(shard.ID) bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.open {
		if of(id) {
			return fault.New(fault.Conflict, "shard %d of index %d is open", id.Number, id.Index)
		}
	}
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

// Kept are the shards of an index of which there is something, and those of which something is
// staged, in ascending order.
func (e *Engine) Kept(index uint32) (rows, prepared []uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.truths {
		if id.Index == index {
			rows = append(rows, id.Number)
		}
	}
	for id := range e.staged {
		if id.Index == index {
			prepared = append(prepared, id.Number)
		}
	}
	slices.Sort(rows)
	slices.Sort(prepared)
	return rows, prepared
}

// OnDisk is what the open shards of the index hold in memory, as there is no disk.
func (e *Engine) OnDisk(index uint32) (bytes int64, known bool) {
	e.mu.Lock()
	var open []*Shard
	for id, s := range e.open {
		if id.Index == index && s != nil {
			open = append(open, s)
		}
	}
	e.mu.Unlock()
	for _, s := range open {
		bytes += s.Stats().Bytes
	}
	return bytes, true
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
