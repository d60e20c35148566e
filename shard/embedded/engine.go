package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/shard"
)

// Engine is the shard.Engine of one data folder. Safe for concurrent use.
type Engine struct {
	dir     string
	options Options
	lock    *pebble.Lock

	life sync.RWMutex // held for reading while db is used, and for writing to replace it
	db   *pebble.DB   // nil: closed

	mu     sync.Mutex // guards what follows; taken before no other
	shards map[shard.ID]*local
	closed bool
}

var _ shard.Engine = (*Engine)(nil)

// Open opens the data folder dir and makes it when there is none. The error is of
// fault.Refused for a format that is not known, fault.Conflict when another engine
// has it open, and fault.Corrupt when it is damaged.
func Open(ctx context.Context, dir string, o Options) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Engine{dir: dir, options: o.withDefaults(), shards: map[shard.ID]*local{}}
	if err := e.openFolder(); err != nil {
		return nil, fault.At(err, dir)
	}
	return e, nil
}

// openFolder locks the folder, checks its format and opens Pebble.
func (e *Engine) openFolder() error {
	if err := e.claim(); err != nil {
		return err
	}
	db, err := pebble.Open(e.truthDir(), e.pebbleOptions())
	if err != nil {
		_ = e.lock.Close()
		return opening(err)
	}
	e.db = db
	return nil
}

func (e *Engine) pebbleOptions() *pebble.Options {
	p := e.options.pebble()
	p.Lock = e.lock
	return p
}

func (e *Engine) truthDir() string { return filepath.Join(e.dir, "truth") }

// use gives the store below to a function of the engine, until done is called.
func (e *Engine) use() (db *pebble.DB, done func(), err error) {
	e.life.RLock()
	if e.db == nil {
		e.life.RUnlock()
		return nil, nil, fault.At(fault.New(fault.Unavailable, "the engine is closed"), e.dir)
	}
	return e.db, e.life.RUnlock, nil
}

// Open reads the shard's placement first: without one there is no shard.
func (e *Engine) Open(ctx context.Context, id shard.ID, placements shard.Placements, settings shard.Settings) (shard.Shard, error) {
	placed, err := placements.Placement(ctx, id.Index)
	if err != nil {
		return nil, fault.At(err, place(id))
	}
	s := newLocal(e, id, placements, settings)
	if err := e.register(s); err != nil {
		return nil, fault.At(err, place(id))
	}
	if err := s.load(placed); err != nil {
		e.forget(id)
		return nil, fault.At(err, place(id))
	}
	return s, nil
}

func (e *Engine) register(s *local) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return fault.New(fault.Unavailable, "the engine is closed")
	case e.shards[s.id] != nil:
		return fault.New(fault.Conflict, "it is open already")
	}
	e.shards[s.id] = s
	return nil
}

func (e *Engine) forget(id shard.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.shards, id)
}

// Drop is fault.Conflict while a shard of the index is open.
func (e *Engine) Drop(_ context.Context, index uint32) error {
	e.mu.Lock()
	for id := range e.shards {
		if id.Index == index {
			e.mu.Unlock()
			return fault.At(fault.New(fault.Conflict, "it is open"), place(id))
		}
	}
	e.mu.Unlock()
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	b := db.NewBatch()
	defer b.Close()
	for _, space := range []byte{rowSpace, runSpace, stateSpace, holdSpace} {
		lower, upper := bounds(appendIndex(nil, space, index))
		if err := b.DeleteRange(lower, upper, nil); err != nil {
			return e.failure(err)
		}
	}
	return e.failure(b.Commit(pebble.Sync))
}

// Indices are in ascending order.
func (e *Engine) Indices(ctx context.Context) ([]uint32, error) {
	db, done, err := e.use()
	if err != nil {
		return nil, err
	}
	defer done()
	var indices []uint32
	for _, space := range []byte{stateSpace, holdSpace} {
		found, err := indicesIn(ctx, db, space)
		if err != nil {
			return nil, e.failure(err)
		}
		indices = append(indices, found...)
	}
	slices.Sort(indices)
	return slices.Compact(indices), nil
}

// indicesIn jumps from index to index.
func indicesIn(ctx context.Context, db *pebble.DB, space byte) (indices []uint32, err error) {
	it, err := db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: []byte{space, end}, UpperBound: []byte{space + 1, end}})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for ok := it.First(); ok; {
		index, err := indexOf(it.Key())
		if err != nil {
			return nil, err
		}
		indices = append(indices, index)
		_, next := bounds(appendIndex(nil, space, index))
		ok = it.SeekGE(next)
	}
	return indices, it.Error()
}

// Health tells whether writes are taken now.
func (e *Engine) Health() shard.Health { return shard.Health{} }

// Close writes out what is only in the log, so that the next opening is quick. It
// is fault.Conflict while shards are open. Closing again is harmless.
func (e *Engine) Close() error {
	e.mu.Lock()
	if n := len(e.shards); n > 0 {
		e.mu.Unlock()
		return fault.At(fault.New(fault.Conflict, "%d shards are open", n), e.dir)
	}
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	if closed {
		return nil
	}
	e.life.Lock()
	defer e.life.Unlock()
	err := e.db.Flush()
	if closing := e.db.Close(); err == nil {
		err = closing
	}
	e.db = nil
	if unlocking := e.lock.Close(); err == nil {
		err = unlocking
	}
	return e.failure(err)
}

// place names a shard in errors.
func place(id shard.ID) string { return fmt.Sprintf("index %d: shard %d", id.Index, id.Number) }
