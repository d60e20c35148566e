package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/shard"
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
	e.masks.forget(index)
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

// takeUp makes what is staged of a shard for a term its state and manifest, if there is
// something. It is not synced: until it is, it is there to be taken up again. From is where
// both are read: what is on disk, and where that cannot be written, with what it should have
// been given on top. The shard's mutex is held, and nobody is admitted.
func (s *local) takeUp(db *store, term int64) (from pebble.Reader, taken bool, err error) {
	value, err := get(db, stagedKey(s.id, term, stagedState))
	if value == nil || err != nil {
		return db, false, s.failure(err)
	}
	next, goesOn, err := readStaged(value)
	if err != nil {
		return db, false, s.failure(err)
	}
	stored, err := get(db, stateKey(s.id))
	if err == nil && stored != nil {
		var was state
		if was, err = readState(stored); err == nil && was.last > next.last {
			err = fault.New(fault.Bug, "it was written to after it was staged: %d is behind %d", was.last, next.last)
		}
	}
	if err != nil {
		return db, false, s.failure(err)
	}
	b := db.NewIndexedBatch()
	if err = s.putUp(db, b, term, goesOn); err == nil {
		err = b.Set(stateKey(s.id), encodeState(&next), nil)
	}
	if from = b; !db.readOnly {
		from, err = db, errors.Join(err, db.Apply(b, pebble.NoSync), b.Close())
	}
	if !goesOn {
		s.inherits = s.engine.options.Now()
	}
	return from, err == nil, s.failure(err)
}

// putUp moves a staged manifest, and removes what belongs to the shard's past.
func (s *local) putUp(db *store, b *pebble.Batch, term int64, goesOn bool) error {
	clear := []byte{manifestSpace}
	if !goesOn {
		clear = append(clear, runSpace, holdSpace)
	}
	for _, space := range clear {
		lower, upper := bounds(appendShard(nil, space, s.id))
		if err := clearRange(db, b, lower, upper); err != nil {
			return err
		}
	}
	prefix := appendStaged(nil, s.id, term)
	lower, upper := bounds(prefix)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		rest := it.Key()[len(prefix):]
		switch value, err = it.ValueAndErr(); {
		case err != nil:
		case rest[0] == stagedManifest:
			err = b.Set(manifestKey(s.id), value, nil)
		case rest[0] == stagedMask && len(rest) == 1+8+1:
			err = b.Set(maskKey(s.id, binary.BigEndian.Uint64(rest[1:])), value, nil)
		}
	}
	lower, upper = bounds(appendShard(nil, stageSpace, s.id))
	return errors.Join(err, it.Error(), it.Close(), clearRange(db, b, lower, upper))
}

// become makes an open shard what is staged for the term of a placement, if something is. It
// reports whether. The turn is held, if there are segments.
func (s *local) become(p placement.Placement) (taken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, named := p.Shard(s.id.Number)
	if was := s.gate.now(); !named || was.Term == row.Term {
		return false, nil
	}
	db, done, err := s.engine.use()
	if err != nil {
		return false, err
	}
	defer done()
	from, taken, err := s.takeUp(db, row.Term)
	if err != nil || !taken {
		return false, err
	}
	if err := s.readStored(from); err != nil {
		return true, err
	}
	s.state.within = row.Range
	s.mark.reach(s.state.last)
	s.gate.own(p.Version, row)
	if s.segments != nil {
		s.segments.moved++
	}
	return true, s.loadSegments(db, from, row.Term)
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
	e.masks.forget(index)
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
