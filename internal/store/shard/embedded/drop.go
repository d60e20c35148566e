package embedded

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// drops are the indices that wait to be dropped. Those that wait while others are dropped are then
// dropped together, since each alone would take as long as all.
type drops struct {
	turn    sync.Mutex // held by the caller that drops
	mu      sync.Mutex
	waiting []*drop
}

// drop is one index that waits to be dropped.
type drop struct {
	index   uint32
	err     error
	hadData bool // it had rows or changes, whose space can be given back
	done    bool // guarded by turn
}

func (d *drops) add(index uint32) *drop {
	d.mu.Lock()
	defer d.mu.Unlock()
	added := &drop{index: index}
	d.waiting = append(d.waiting, added)
	return added
}

func (d *drops) take() []*drop {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.waiting
	d.waiting = nil
	return taken
}

// Drop is fault.Conflict while a shard of the index is open. It is possible on a
// disk that is nearly full. What it removes is gone at once and together; the space
// is given back before it returns, unless the disk fails meanwhile. On a disk without room even for
// that it is fault.Unavailable, gives back what the index was found by, and may be tried again.
func (e *Engine) Drop(ctx context.Context, index uint32) error {
	d := e.drops.add(index)
	e.drops.turn.Lock()
	defer e.drops.turn.Unlock()
	if !d.done { // by another caller
		e.dropAll(ctx, e.drops.take())
	}
	return d.err
}

// dropAll drops indices together. The caller holds the turn.
func (e *Engine) dropAll(ctx context.Context, all []*drop) {
	for _, d := range all {
		d.done, d.err = true, fault.New(fault.Bug, "a panic interrupted it") // replaced below, unless there is one
	}
	open, err := e.removeKeys(all)
	var toRead *shard.ReadOnly // a start on a full disk opens the folder for reading alone
	full := errors.Is(err, syscall.ENOSPC) || errors.As(err, &toRead)
	e.undropped.Store(full)
	var gone []uint32
	hadData := false
	for _, d := range all {
		d.err = e.failed(err)
		if number, is := open[d.index]; is {
			if d.err == nil {
				d.err = fault.At(fault.New(fault.Conflict, "it is open"), e.dir, place(shard.ID{Index: d.index, Number: number}))
			}
			continue
		}
		if d.err != nil && !full {
			continue
		}
		// On a full disk, too, where the keys stay for now: that makes the room that their removal takes.
		if err := e.files.drop(d.index); err != nil {
			e.options.Logger.Warn("store: the segments of a dropped index are not removed yet", "index", d.index, "cause", err)
		}
		if d.err != nil {
			continue
		}
		gone, hadData = append(gone, d.index), hadData || d.hadData
	}
	if !hadData || !e.writeOut() { // excising waits for what is not written out
		return
	}
	if err := e.excise(ctx, gone); err != nil {
		e.options.Logger.Warn("store: the space of dropped indices is not given back yet", "indices", gone, "cause", err)
	}
}

// removeKeys removes all keys of the indices, durably and together. It leaves the indices of which a shard is
// open, and returns such a shard of each.
func (e *Engine) removeKeys(all []*drop) (open map[uint32]uint32, err error) {
	e.turn.Lock() // no shard is opened meanwhile
	defer e.turn.Unlock()
	open = map[uint32]uint32{}
	for _, s := range e.open() {
		open[s.id.Index] = s.id.Number
	}
	db, done, err := e.use()
	if err != nil {
		return open, err
	}
	defer done()
	b := db.NewBatch()
	for _, d := range all {
		if _, is := open[d.index]; is {
			continue
		}
		if err := d.deleteKeys(db, b); err != nil {
			return open, errors.Join(err, b.Close())
		}
	}
	if b.Empty() {
		return open, b.Close()
	}
	if err := db.apply(b); err != nil {
		return open, err
	}
	return open, db.await(b)
}

// fewKeys is how many keys are deleted one by one, since each range that was deleted makes later reads slower.
const fewKeys = 16

// deleteKeys adds the deletion of all keys of the index to a batch.
func (d *drop) deleteKeys(db *store, b *pebble.Batch) error {
	for _, space := range []byte{rowSpace, runSpace, stateSpace, holdSpace, manifestSpace, stageSpace} {
		lower, upper := bounds(appendIndex(nil, space, d.index))
		keys, unreadable := firstKeys(db, lower, upper)
		large := space == rowSpace || space == runSpace
		if unreadable != nil || len(keys) > fewKeys || len(keys) > 0 && large {
			d.hadData = d.hadData || large
			if err := b.DeleteRange(lower, upper, nil); err != nil {
				return err
			}
			continue
		}
		for _, key := range keys {
			if err := b.Delete(key, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstKeys are the first keys within bounds, at most fewKeys and one more.
func firstKeys(db *store, lower, upper []byte) (keys [][]byte, err error) {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok && len(keys) <= fewKeys; ok = it.Next() {
		keys = append(keys, bytes.Clone(it.Key()))
	}
	return keys, errors.Join(it.Error(), it.Close())
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
			return nil, e.failed(err)
		}
		indices = append(indices, found...)
	}
	slices.Sort(indices)
	return slices.Compact(indices), nil
}

// indicesIn jumps from index to index.
func indicesIn(ctx context.Context, db *store, space byte) (indices []uint32, err error) {
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

// Forget leaves the documents.
func (e *Engine) Forget(_ context.Context, id shard.ID) error {
	e.turn.Lock() // it is not opened meanwhile
	defer e.turn.Unlock()
	e.mu.Lock()
	open := e.shards[id] != nil
	e.mu.Unlock()
	if open {
		return fault.At(fault.New(fault.Conflict, "it is open"), place(id))
	}
	db, done, err := e.use()
	if err != nil {
		return err
	}
	b := db.NewBatch()
	for _, space := range []byte{runSpace, stateSpace, holdSpace, manifestSpace, stageSpace} {
		lower, upper := bounds(appendShard(nil, space, id))
		err = errors.Join(err, b.DeleteRange(lower, upper, nil))
	}
	if err == nil {
		err = db.apply(b)
	}
	done()
	if err == nil {
		err = db.await(b)
	}
	e.sweep(id.Index)
	return e.failed(err)
}
