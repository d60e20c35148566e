package embedded

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// countLater counts, beside everything else, what is only estimated since the range became
// another.
func (s *local) countLater() {
	s.mu.Lock()
	estimated := s.state.estimated && !s.closed
	s.mu.Unlock()
	if !estimated || s.segments == nil {
		return
	}
	s.segments.start(func() {
		if err := s.countAgain(s.segments.ctx); err != nil && s.segments.ctx.Err() == nil {
			s.engine.options.Logger.Warn("store: tombstones and bytes are counted when the shard is opened", "shard", place(s.id), "cause", err)
		}
	})
}

// countAgain counts what a view shows, one view at a time in all of the engine, and leaves the
// processors to others for most of the time. What was tallied meanwhile is what the estimate has
// moved by.
func (s *local) countAgain(ctx context.Context) error {
	s.mu.Lock()
	db, done, err := s.use()
	if err != nil {
		s.mu.Unlock()
		return err
	}
	v, was, stated := s.view(db), s.state, s.stated
	done()
	s.mu.Unlock()
	var counted state
	select {
	case s.engine.counting <- struct{}{}:
		err = v.count(ctx, v.within, countingRests, &counted)
		<-s.engine.counting
	case <-ctx.Done():
		err = fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	over := v.snapshot == nil || s.state.within != was.within || s.stated != stated // it may have lost the range meanwhile, and got it back
	err = errors.Join(err, v.drop())
	if err != nil || over || !s.state.estimated {
		return err
	}
	s.state.docs += counted.docs - was.docs
	s.state.tombstones += counted.tombstones - was.tombstones
	s.state.bytes += counted.bytes - was.bytes
	s.state.estimated = false
	if err := s.segments.counted(counted.docs - was.docs); err != nil {
		return err
	}
	if db, done, err = s.use(); err != nil {
		return err
	}
	defer done()
	return db.Set(stateKey(s.id), encodeState(&s.state), pebble.NoSync)
}

// countAtOnce is how many rows are counted before others may replace Pebble.
const countAtOnce = 4096

// countingRests is for how long counting again rests, for each unit of time in which it counts: it is
// of use to nobody who waits.
const countingRests = 4

// count adds what a view shows of a range, and rests so many times as long as it works.
func (v *view) count(ctx context.Context, within routing.Range, rests time.Duration, counted *state) error {
	lower, upper := rowBounds(v.shard.id.Index, within)
	for lower != nil {
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, context.Cause(ctx))
		}
		began := time.Now()
		err := v.read(func(from *pebble.Snapshot) (err error) {
			lower, err = countSome(from, lower, upper, counted)
			return err
		})
		if err != nil {
			return err
		}
		if lower == nil || rests == 0 {
			continue
		}
		select {
		case <-time.After(rests * time.Since(began)):
		case <-ctx.Done():
		}
	}
	return nil
}

// countSome counts some rows from lower on; next is where the others begin, nil: there are
// none.
func countSome(from pebble.Reader, lower, upper []byte, counted *state) (next []byte, err error) {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	n := 0
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if n++; n > countAtOnce {
			next = bytes.Clone(it.Key())
			break
		}
		var row met
		if row, err = metUnder(it); err == nil {
			counted.tally(&row, 1)
		}
	}
	return next, errors.Join(err, it.Error(), it.Close())
}
