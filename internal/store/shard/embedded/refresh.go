package embedded

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Refresh takes a view of all that is applied, waits until that is synced, and
// publishes it unless somebody has published a newer one meanwhile. It goes on
// behind a fence.
func (s *local) Refresh(ctx context.Context) (int64, error) {
	done, err := s.begin(0)
	if err != nil {
		return 0, err
	}
	defer done()
	if s.segments != nil {
		return s.segments.refresh(ctx)
	}
	v, err := s.newer()
	if err != nil || v == nil {
		return s.shown(), s.failure(err)
	}
	err = s.mark.await(ctx, v.seqNo)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && v.snapshot == nil {
		err = errReopened()
	}
	if err != nil || v.seqNo < s.published.seqNo {
		_ = v.drop()
		return s.published.seqNo, s.failure(err)
	}
	s.ops.refresh.Add(1)
	return v.seqNo, s.failure(s.publish(v))
}

// newer is a view that shows more than the published one; nil when there is nothing more.
func (s *local) newer() (*view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.published.seqNo == s.state.last && s.published.within == s.state.within {
		return nil, nil
	}
	db, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return s.view(db), nil
}

// publish makes a view the one that readers get. The mutex is held.
func (s *local) publish(v *view) (err error) {
	if s.published != nil {
		err = s.published.drop()
	}
	s.published = v
	if s.indexing != nil && v.stack != nil {
		close(s.indexing)
		s.indexing, s.unindexed = nil, nil
	}
	if !s.closed {
		close(s.refreshed)
		s.refreshed = make(chan struct{})
	}
	return err
}

// renew publishes what is published from a snapshot of now, when nothing was written
// since. Pebble keeps for a snapshot what any shard had then: that of a shard at
// rest would keep all that the others overwrite.
func (s *local) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.published.snapshot == nil || s.published.seqNo != s.state.last || s.published.within != s.state.within {
		return nil
	}
	db, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	v := s.view(db)
	v.stack = s.published.stack.retain()
	return s.publish(v)
}

func (s *local) shown() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published.seqNo
}

// AwaitRefresh fails when the shard is closed meanwhile.
func (s *local) AwaitRefresh(ctx context.Context, seqNo int64) error {
	for {
		s.mu.Lock()
		shown, closed, refreshed := !s.closed && s.published.seqNo >= seqNo, s.closed, s.refreshed
		s.mu.Unlock()
		switch {
		case shown:
			return nil
		case closed:
			return over(s.id, 0)
		}
		select {
		case <-refreshed:
		case <-ctx.Done():
			return fault.At(fault.Wrap(fault.Unavailable, context.Cause(ctx)), place(s.id))
		}
	}
}

// recount counts the rows of a range again: the one that the shard owns from now on.
// The mutex is held.
func (s *local) recount(db *store, within routing.Range) error {
	counted, err := s.count(db, within)
	if err != nil {
		return s.failure(err)
	}
	s.stated++
	s.state.estimated = false
	s.state.within, s.state.docs, s.state.tombstones, s.state.bytes = within, counted.docs, counted.tombstones, counted.bytes
	return nil
}

// count gives the counts of a range.
func (s *local) count(from pebble.Reader, within routing.Range) (counted state, err error) {
	lower, upper := rowBounds(s.id.Index, within)
	for lower != nil && err == nil {
		lower, err = countSome(from, lower, upper, &counted)
	}
	return counted, err
}

// narrow publishes again what is published, for the range that the shard owns now; of a
// shard with segments for what is left of the one that is published, since more is not in
// them. The mutex is held.
func (s *local) narrow() error {
	within := s.state.within
	if s.segments != nil {
		left, any := within.Meet(s.published.within)
		if !any {
			return nil
		}
		within = left
	}
	if s.published.within == within {
		return nil
	}
	v, err := s.published.over(within)
	if err == nil && s.segments != nil && s.indexing == nil {
		err = s.segments.narrow(v)
	}
	if err != nil {
		return s.failure(err)
	}
	return s.failure(s.publish(v))
}
