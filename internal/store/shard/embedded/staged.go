package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// What is staged of a shard for a term; FORMAT.md tells how.
const (
	stagedState    = 's'
	stagedManifest = 'm'
	stagedMask     = 'e'
)

func appendStaged(dst []byte, id shard.ID, term int64) []byte {
	return binary.BigEndian.AppendUint64(appendShard(dst, stageSpace, id), uint64(term))
}

func stagedKey(id shard.ID, term int64, what byte) []byte {
	return append(appendStaged(nil, id, term), what, end)
}

func stagedMaskKey(id shard.ID, term int64, number uint64) []byte {
	return append(binary.BigEndian.AppendUint64(append(appendStaged(nil, id, term), stagedMask), number), end)
}

func isStagedManifest(key []byte) bool {
	return len(key) == stagePrefix+2 && key[stagePrefix] == stagedManifest
}

// encodeStaged is the state of an incarnation, and whether the shard goes on.
func encodeStaged(n *staging) []byte { return appendFlag(encodeState(&n.state), n.goesOn) }

func readStaged(value []byte) (s state, goesOn bool, err error) {
	if len(value) == 0 {
		return s, false, fault.New(fault.Corrupt, "a staged state is empty")
	}
	d := decoder{rest: value[len(value)-1:], what: "staged state"}
	goesOn = d.flag()
	s, err = readState(value[:len(value)-1])
	return s, goesOn, errors.Join(d.err, err)
}

func readManifestAt(from pebble.Reader, key []byte) (manifest, error) {
	value, err := get(from, key)
	if err != nil || value == nil {
		return manifest{}, err
	}
	return readManifest(value)
}

// storeStaged replaces what is staged of shards, synced. The files that it names are in use. A
// shard that has been opened meanwhile, since somebody else has handed its range to it, is
// a fault.Conflict: what would be left for it now, its next opening would take up.
func (e *Engine) storeStaged(index uint32, from []uint32, of []*staging) error {
	e.files.naming.RLock()
	defer e.files.naming.RUnlock()
	e.stagedMasks.forget(index)
	db, done, err := e.use()
	if err != nil {
		return err
	}
	b := db.NewBatch()
	for _, n := range of {
		err = errors.Join(err, n.write(db, b, shard.ID{Index: index, Number: n.Number}))
	}
	if err == nil {
		e.mu.Lock() // nobody opens a shard meanwhile
		for _, n := range of {
			id := shard.ID{Index: index, Number: n.Number}
			if err == nil && e.shards[id] != nil && !slices.Contains(from, n.Number) {
				err = fault.At(fault.New(fault.Conflict, "it was opened while it was staged"), place(id))
			}
		}
		if err == nil {
			err = db.apply(b)
		}
		e.mu.Unlock()
	}
	done() // a failing disk may sync for long
	if err == nil {
		err = db.await(b)
	}
	return err
}

// write puts an incarnation into a batch, in the place of any that was staged for the shard.
func (n *staging) write(db pebble.Reader, b *pebble.Batch, id shard.ID) error {
	lower, upper := bounds(appendShard(nil, stageSpace, id))
	err := errors.Join(clearRange(db, b, lower, upper), b.Set(stagedKey(id, n.Term, stagedState), encodeStaged(n), nil))
	if !n.indexed {
		return err
	}
	m := manifest{committed: n.last, covers: n.Range}
	for _, e := range n.entries {
		m.entries = append(m.entries, listed{number: e.number, numbers: e.numbers(), name: e.name, hides: e.hidden != nil})
		if e.hidden != nil {
			err = errors.Join(err, b.Set(stagedMaskKey(id, n.Term, e.number), e.hidden.AppendTo(nil), nil))
		}
	}
	return errors.Join(err, b.Set(stagedKey(id, n.Term, stagedManifest), encodeManifest(&m), nil))
}

// clearRange deletes what lies in a range. Where there is little it is deleted key by key, and where
// there is nothing not at all: for hundreds of shards, ranges that were deleted would make each
// read that follows look at all of them.
func clearRange(from pebble.Reader, b *pebble.Batch, lower, upper []byte) error {
	const little = 64
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok && n < little && err == nil; ok = it.Next() {
		err = b.Delete(it.Key(), nil)
		n++
	}
	if n == little && err == nil {
		err = b.DeleteRange(lower, upper, nil)
	}
	return errors.Join(err, it.Error(), it.Close())
}

// Unstage keeps what the placement names: the next opening takes it up.
func (e *Engine) Unstage(ctx context.Context, index uint32, placements shard.Placements) error {
	p, err := placements.Placement(ctx, index)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return e.failed(err)
	}
	db, done, err := e.use()
	if err != nil {
		return err
	}
	b := db.NewBatch()
	err = unstage(db, b, index, p)
	if err == nil {
		err = db.apply(b)
	}
	done()
	if err == nil {
		err = db.await(b)
	}
	e.narrowed.forget()
	e.stagedMasks.forget(index)
	e.sweep(index)
	return e.failed(err)
}

// unstage removes what is staged of an index and not named by a placement.
func unstage(db *store, b *pebble.Batch, index uint32, p placement.Placement) error {
	lower, upper := bounds(appendIndex(nil, stageSpace, index))
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		key := it.Key()
		if len(key) < stagePrefix {
			err = fault.New(fault.Corrupt, "the key of something staged is % x", key)
			break
		}
		row, named := p.Shard(binary.BigEndian.Uint32(key[indexPrefix:]))
		if !named || row.Term != int64(binary.BigEndian.Uint64(key[shardPrefix:])) {
			err = b.Delete(key, nil)
		}
	}
	return errors.Join(err, it.Error(), it.Close())
}
