package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Engine is the shard.Engine of one data folder. Safe for concurrent use.
//
// Locks are taken in this order: turn, the mutexes of shards, life, mu.
type Engine struct {
	dir         string
	options     Options
	lock        *pebble.Lock
	space       space
	files       *files
	tiers       tiers
	makers      makers
	merging     chan struct{}         // holds something while files are merged
	counting    chan struct{}         // holds something while rows are counted
	repairing   chan struct{}         // holds something while a shard indexes again what it lacks
	inRAM       atomic.Int64          // bytes of segments that are in memory alone
	unwritten   atomic.Pointer[error] // why segments cannot be written to files, since the last that was
	narrowed    narrowed
	drops       drops
	undropped   atomic.Bool // a full disk has refused to drop an index
	stagedMasks stagedMasks
	room        atomic.Int64 // bytes for what was written last and is not indexed yet

	turn sync.Mutex   // held while shards are opened, or all of them are opened again
	life sync.RWMutex // held for reading while db is used, and for writing to replace it
	db   *store       // nil: closed, or it could not be opened again
	// begun: there was a store once, so that it is not made when it is opened again.
	begun bool

	mu     sync.Mutex // guards what follows
	shards map[shard.ID]*local
	closed bool
	sweeps map[uint32]bool // indices that will be swept
	// rewriting: the tables that were cut will be rewritten.
	rewriting bool

	failure atomic.Pointer[error] // why writes are refused until the folder is opened again
	broke   chan error            // wakes mend
	written atomic.Int64          // bytes since the last look at the pressure

	requests atomic.Int64 // since the last rest
	dirty    atomic.Bool  // something was written since then
	armed    atomic.Bool  // a rest is waiting

	stop chan struct{} // closed by Close
	work sync.WaitGroup
}

var _ shard.Engine = (*Engine)(nil)

// Open opens the data folder dir and makes it when there is none. The error is of
// fault.Refused for a format that is not known, fault.Conflict when another engine
// has it open, and fault.Corrupt when it is damaged. A folder on a full disk is
// opened for reading alone, until there is space; see Health.
func Open(ctx context.Context, dir string, o Options) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	e := &Engine{dir: dir, options: o, shards: map[shard.ID]*local{}, sweeps: map[uint32]bool{}, broke: make(chan error, 1), stop: make(chan struct{}),
		tiers: tiersOf(o), makers: newMakers(together()), merging: make(chan struct{}, 1), counting: make(chan struct{}, 1), repairing: make(chan struct{}, 1)}
	e.files = newFiles(o.FS, filepath.Join(dir, "segments"), e.sweepLater)
	e.room.Store(e.tiers.recent)
	e.space = space{fs: o.FS, dir: dir, options: o, used: e.used}
	if err := e.openFolder(); err != nil {
		return nil, fault.At(err, dir)
	}
	e.work.Add(1)
	go e.mend()
	return e, nil
}

// openFolder locks the folder, checks its format and opens Pebble.
func (e *Engine) openFolder() (err error) {
	isNew, err := e.claim()
	if err != nil {
		return err
	}
	switch full := e.space.look().ReadOnly; {
	case full == nil, !isNew && e.space.roomToOpen(): // dropping an index is possible, at least
		if e.db, err = e.openStore(false); !isNew && errors.Is(err, syscall.ENOSPC) {
			err = e.openToRead(err)
		}
	case isNew:
		err = full
	default:
		err = e.openToRead(full)
	}
	if err != nil {
		_ = e.lock.Close()
		return opening(err)
	}
	e.begun = true
	e.tidy()
	return nil
}

// openToRead opens Pebble for reading alone; mend opens it for writing once there is space.
func (e *Engine) openToRead(full error) (err error) {
	e.db, err = e.openStore(true)
	e.fail(full)
	e.space.soon()
	select {
	case e.broke <- full:
	default: // the seal of what was opened before has told it
	}
	return err
}

// tidy removes the segment files that no manifest names. That it cannot is no failure: no
// manifest will ever name them.
func (e *Engine) tidy() {
	found, err := e.files.list()
	if err != nil {
		e.options.Logger.Warn("store: old segment files are not removed", "folder", e.dir, "cause", err)
	}
	e.files.measure(found) // first: what is removed is taken away from what was counted
	for index := range found {
		e.sweep(index)
	}
}

// sweep removes the segment files of an index that no manifest names and that nobody reads.
func (e *Engine) sweep(index uint32) {
	e.files.naming.Lock()
	defer e.files.naming.Unlock()
	if e.failure.Load() != nil {
		return // what is stored is found out when the folder is opened again
	}
	db, done, err := e.use()
	if err != nil {
		return
	}
	defer done()
	err = e.files.sweep(index, func() (map[string]bool, error) {
		names, err := named(db, index)
		return names, errors.Join(err, db.seal.broken()) // behind a seal, what is read is perhaps not on disk
	})
	if err != nil {
		e.options.Logger.Warn("store: old segment files are not removed", "index", index, "cause", err)
	}
}

// sweepLater sweeps an index beside whatever the caller does, and holds.
func (e *Engine) sweepLater(index uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.sweeps[index] {
		return
	}
	e.sweeps[index] = true
	e.work.Go(func() {
		e.mu.Lock()
		delete(e.sweeps, index)
		e.mu.Unlock()
		e.sweep(index)
	})
}

// truth is the folder of Pebble's files.
func (e *Engine) truth() string { return filepath.Join(e.dir, "truth") }

// use gives the store below to a function of the engine, until done is called.
func (e *Engine) use() (db *store, done func(), err error) {
	e.life.RLock()
	if e.db == nil {
		e.life.RUnlock()
		return nil, nil, fault.At(fault.New(fault.Unavailable, "the folder is not open"), e.dir)
	}
	return e.db, e.life.RUnlock, nil
}

// used is how many bytes the engine takes on disk.
func (e *Engine) used() int64 {
	db, done, err := e.use()
	if err != nil {
		return 0
	}
	defer done()
	return db.size() + e.files.onDisk.Load()
}

// Open reads the shard's placement first: without one there is no shard.
func (e *Engine) Open(ctx context.Context, id shard.ID, placements shard.Placements, settings shard.Settings) (shard.Shard, error) {
	placed, err := placements.Placement(ctx, id.Index)
	if err != nil {
		return nil, fault.At(err, place(id))
	}
	s := newLocal(e, id, placements, settings)
	e.turn.Lock()
	defer e.turn.Unlock()
	if err := e.register(s); err != nil {
		return nil, fault.At(err, place(id))
	}
	if err := s.load(placed); err != nil {
		e.forget(id)
		return nil, fault.At(err, place(id))
	}
	s.countLater()
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

// flushWithin is how long closing waits until what is only in the log is in files.
const flushWithin = 5 * time.Second

// Close writes out what is only in the log, so that the next opening is quick. It
// is fault.Conflict while shards are open. Closing again is harmless.
func (e *Engine) Close() error {
	e.mu.Lock()
	n, closed := len(e.shards), e.closed
	if n == 0 {
		e.closed = true
	}
	e.mu.Unlock()
	switch {
	case closed:
		return nil
	case n > 0:
		return fault.At(fault.New(fault.Conflict, "%d shards are open", n), e.dir)
	}
	close(e.stop)
	e.work.Wait()
	healthy := e.failure.Load() == nil
	e.life.Lock()
	defer e.life.Unlock()
	var err error
	if e.db != nil {
		if healthy {
			select {
			case <-e.db.flush():
			case <-e.db.seal.done:
			case <-time.After(flushWithin): // what is not written out is in the log
			}
		}
		err = errors.Join(e.db.close(), e.db.seal.broken())
		e.db = nil
	}
	return e.failed(errors.Join(err, e.lock.Close()))
}

// place names a shard in errors.
func place(id shard.ID) string { return fmt.Sprintf("index %d: shard %d", id.Index, id.Number) }
