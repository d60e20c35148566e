package embedded

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/store/placement"
)

// load reads what is stored of the shard and publishes it.
func (s *local) load(p placement.Placement) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db, done, err := s.engine.use()
	if err != nil {
		return err
	}
	defer done()
	from, taken := pebble.Reader(db), int64(0)
	row, named := p.Shard(s.id.Number)
	if named {
		if from, taken, err = s.takeUp(db, row.Term); err != nil {
			return err
		}
	}
	if err := s.read(from); err != nil {
		return err
	}
	if err := s.take(db, p); err != nil {
		return err
	}
	if row := s.gate.now(); s.inherits.IsZero() && row.Epoch > 1 && (s.state.tombstones > 0 || s.state.estimated) {
		s.inherits = s.engine.options.Now() // it has changed hands, and was perhaps closed before it had looked
	}
	return s.loadSegments(db, from, taken)
}

// loadSegments reads what is stored of the segments, and publishes all that there is. From and
// taken are what takeUp gave. The mutex is held.
func (s *local) loadSegments(db *store, from pebble.Reader, taken int64) error {
	if x := s.segments; x != nil {
		st, err := x.load(from, taken)
		if err == nil {
			err = x.narrowStored(s.state.within)
		}
		if err != nil {
			st.release()
			return s.failure(err)
		}
		x.set(st)
	}
	return s.showAll(db)
}

// showAll publishes all that there is, which is synced. The mutex is held.
func (s *local) showAll(db *store) error {
	v := s.view(db)
	if s.segments != nil {
		s.segments.takeRecent().drop() // it may be gone
	}
	if x := s.segments; x != nil && x.behind(v) {
		x.later(v)
	} else if x != nil {
		st, err := x.next(x.ctx, v, x.stack)
		if err != nil {
			return errors.Join(s.failure(err), v.drop())
		}
		x.set(st)
		v.stack = st.retain()
		x.arm(commitAfter)
	}
	return s.publish(v)
}

// read takes state and holds from disk, where nothing else is known. The mutex is held.
func (s *local) read(from pebble.Reader) error {
	err := s.readStored(from)
	if err == nil {
		s.mark.reset(s.state.last)
	}
	return err
}

// readStored takes state and holds from disk: both, or none. The mutex is held.
func (s *local) readStored(from pebble.Reader) error {
	stored := state{last: -1, pruned: -1, within: s.state.within}
	value, err := get(from, stateKey(s.id))
	if err == nil && value != nil {
		stored, err = readState(value)
	}
	if err != nil {
		return s.failure(err)
	}
	holds, err := readHolds(from, s.id)
	if err != nil {
		return s.failure(err)
	}
	s.state, s.holds = stored, holds
	s.stated++
	return nil
}
