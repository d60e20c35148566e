package embedded

import (
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/shard"
)

// Drop is fault.Conflict while a shard of the index is open. It is possible on a
// disk that is nearly full. What it removes is gone at once and together; the space
// is given back before it returns, unless the disk fails meanwhile.
func (e *Engine) Drop(ctx context.Context, index uint32) error {
	if err := e.dropped(index); err != nil {
		return e.failed(err)
	}
	if err := e.files.drop(index); err != nil {
		e.options.Logger.Warn("store: the segments of a dropped index are not removed yet", "index", index, "cause", err)
	}
	if !e.writeOut() {
		return nil // excising would wait for it
	}
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	for _, space := range []byte{rowSpace, runSpace} {
		lower, upper := bounds(appendIndex(nil, space, index))
		if err := db.Excise(ctx, pebble.KeyRange{Start: lower, End: upper}); err != nil {
			e.options.Logger.Warn("store: the space of a dropped index is not given back yet", "index", index, "cause", err)
		}
	}
	return nil
}

// dropped removes all keys of an index, durably.
func (e *Engine) dropped(index uint32) error {
	e.turn.Lock() // no shard is opened meanwhile
	defer e.turn.Unlock()
	for _, s := range e.open() {
		if s.id.Index == index {
			return fault.At(fault.New(fault.Conflict, "it is open"), place(s.id))
		}
	}
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	b := db.NewBatch()
	for _, space := range []byte{rowSpace, runSpace, stateSpace, holdSpace, manifestSpace, stageSpace} {
		lower, upper := bounds(appendIndex(nil, space, index))
		if err := b.DeleteRange(lower, upper, nil); err != nil {
			return err
		}
	}
	if err := db.apply(b); err != nil {
		return err
	}
	return db.await(b)
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
