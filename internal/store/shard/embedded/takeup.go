package embedded

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// takeUp makes what is staged of a shard for a term its state and manifest, if there is
// something. It is not synced: until it is, it is there to be taken up again. From is where
// both are read: what is on disk, and where that cannot be written, with what it should have
// been given on top. Taken is the term; 0: there was nothing. The shard's mutex is held, and
// nobody is admitted.
func (s *local) takeUp(db *store, term int64) (from pebble.Reader, taken int64, err error) {
	value, err := get(db, stagedKey(s.id, term, stagedState))
	if value == nil || err != nil {
		return db, 0, s.failure(err)
	}
	next, goesOn, err := readStaged(value)
	if err != nil {
		return db, 0, s.failure(err)
	}
	stored, err := get(db, stateKey(s.id))
	if err == nil && stored != nil {
		var was state
		if was, err = readState(stored); err == nil && was.last > next.last {
			err = fault.New(fault.Bug, "it was written to after it was staged: %d is behind %d", was.last, next.last)
		}
		if goesOn { // changes may have been pruned since it was staged
			next.pruned = max(next.pruned, was.pruned)
		}
	}
	if err != nil {
		return db, 0, s.failure(err)
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
	return from, term, s.failure(err)
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

// become makes an open shard what is staged for the term of a placement, and reports whether
// something was. The turn is held, if there are segments.
func (s *local) become(p placement.Placement) (taken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, named := p.Shard(s.id.Number)
	if was := s.gate.now(); !named || was.Term == row.Term {
		return false, nil
	}
	db, done, err := s.use()
	if err != nil {
		return false, err
	}
	defer done()
	release, err := s.stagedFiles(db, row.Term)
	if err != nil {
		return false, err
	}
	defer release()
	from, term, err := s.takeUp(db, row.Term)
	if err != nil || term == 0 {
		return false, err
	}
	if err := s.readStored(from); err != nil {
		return true, err
	}
	s.state.within = row.Range
	s.mark.reach(s.state.last)
	s.gate.own(p.Version, row)
	return true, s.loadSegments(db, from, term)
}

// stagedFiles opens the files of what is staged of a shard for a term. Where one cannot be opened now, and
// could at another time, nothing is taken up: what was staged cannot be taken up twice.
func (s *local) stagedFiles(db *store, term int64) (release func(), err error) {
	m, err := readManifestAt(db, stagedKey(s.id, term, stagedManifest))
	if err != nil {
		return nil, s.failure(err)
	}
	var open []*file
	release = func() {
		for _, f := range open {
			f.release()
		}
	}
	for _, of := range m.entries {
		f, err := s.engine.files.get(s.id.Index, of.name)
		switch {
		case err == nil:
			open = append(open, f)
		case scarce(err):
			release()
			return nil, s.failure(err)
		}
	}
	return release, nil
}
