package embedded

import (
	"context"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// view is a snapshot of Pebble at one sequence number, of one range. It lives as
// long as it is published or has a reader, and ends early when Pebble is replaced.
type view struct {
	shard  *local
	seqNo  int64
	docs   int64
	exact  bool // docs were counted, not taken over from segments
	within routing.Range
	recent *recent // some of what it shows, in memory, while it is indexed; nil: none
	stack  *stack  // the segments of its documents; nil: none. Set before it is published

	users int // readers, and one while it is published; guarded by the shard's mutex

	mu       sync.RWMutex
	snapshot *snapshot // nil: ended; the shard's mutex is held when it ends
	scans    map[*cursor]bool
}

// snapshot is Pebble's, shared by the views of several ranges. The shard's mutex
// guards how many these are.
type snapshot struct {
	*pebble.Snapshot
	views int
}

// view makes one of what is applied now. The mutex is held.
func (s *local) view(db *store) *view {
	v := s.newView(&snapshot{Snapshot: db.NewSnapshot()}, s.state.last, s.state.within, s.state.docs)
	v.exact = !s.state.estimated
	return v
}

// rows are those of the view.
func (v *view) rows() rowCount { return rowCount{docs: v.docs, known: true, counted: v.exact} }

func (s *local) newView(of *snapshot, seqNo int64, within routing.Range, docs int64) *view {
	of.views++
	v := &view{shard: s, seqNo: seqNo, docs: docs, within: within, users: 1, snapshot: of, scans: map[*cursor]bool{}}
	s.views[v] = true
	return v
}

// over is the same snapshot for a shard that owns another range. The mutex is held.
func (v *view) over(within routing.Range) (*view, error) {
	if v.snapshot == nil {
		return nil, errReopened()
	}
	counted, err := v.shard.count(v.snapshot, within)
	if err != nil {
		return nil, err
	}
	narrowed := v.shard.newView(v.snapshot, v.seqNo, within, counted.docs)
	narrowed.exact = true
	return narrowed, nil
}

// drop ends one use of the view. The shard's mutex is held.
func (v *view) drop() error {
	v.users--
	if v.users > 0 {
		return nil
	}
	delete(v.shard.views, v)
	v.stack.release()
	return v.end()
}

// read reads through the snapshot, in parts that are short: Pebble is not replaced
// meanwhile.
func (v *view) read(do func(*pebble.Snapshot) error) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.snapshot == nil {
		return errReopened()
	}
	return do(v.snapshot.Snapshot)
}

// end lets go of Pebble. Scans that go on fail at their next step. The shard's mutex
// is held.
func (v *view) end() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.snapshot == nil {
		return nil
	}
	var err error
	for c := range v.scans {
		err = errors.Join(err, c.close())
	}
	if v.snapshot.views--; v.snapshot.views == 0 {
		err = errors.Join(err, v.snapshot.Close())
	}
	v.snapshot, v.scans = nil, nil
	return err
}

// readers is how many readers are open. The mutex is held.
func (s *local) readers() int {
	n := 0
	for v := range s.views {
		n += v.users
		if v == s.published {
			n--
		}
	}
	return n
}

// Acquire gives a reader of the view that the last refresh published. Of a shard that was
// opened with much to be indexed it waits until that is done, or has failed.
func (s *local) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	for {
		r, indexing, err := s.acquire(ctx, epoch)
		if indexing == nil {
			return r, err
		}
		select { // without a permit: a fence does not wait for it
		case <-indexing:
		case <-s.segments.ctx.Done():
			return nil, over(s.id, epoch)
		case <-ctx.Done():
			return nil, fault.At(fault.Wrap(fault.Unavailable, context.Cause(ctx)), place(s.id))
		}
	}
}

func (s *local) acquire(ctx context.Context, epoch int64) (r shard.Reader, indexing chan struct{}, err error) {
	if _, err := s.gate.enter(ctx, epoch); err != nil {
		return nil, nil, err
	}
	defer s.gate.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unopened != nil {
		return nil, nil, s.unopened
	}
	if s.unindexed != nil {
		return nil, nil, s.unindexed
	}
	if s.indexing != nil {
		return nil, s.indexing, nil
	}
	s.published.users++
	return &reader{view: s.published}, nil, nil
}

// reader is one use of a view.
type reader struct {
	*view
	once sync.Once
	gone bool // guarded by the shard's mutex
}

var _ shard.Reader = (*reader)(nil)

func (r *reader) SeqNo() int64 { return r.seqNo }
func (r *reader) Docs() int64  { return r.docs }

// Close may be called again.
func (r *reader) Close() (err error) {
	r.once.Do(func() {
		r.shard.mu.Lock()
		defer r.shard.mu.Unlock()
		r.gone = true
		defer r.shard.idle.Broadcast()
		err = r.shard.failure(r.drop())
	})
	return err
}

// usable checks that the reader is open.
func (r *reader) usable() error {
	r.shard.mu.Lock()
	defer r.shard.mu.Unlock()
	if r.gone {
		return fault.At(fault.New(fault.Unavailable, "the reader is closed"), place(r.shard.id))
	}
	return nil
}

// errReopened is what a reader says whose Pebble was replaced.
func errReopened() error {
	return fault.New(fault.Unavailable, "the folder was opened again after a failure, which ended the readers")
}

// Lacks is what the stack of the reader's rows was found to be when it was made.
func (r *reader) Lacks() error { return r.shard.failure(r.stack.whole()) }

// Views are those of the stack that was published with the reader's rows.
func (r *reader) Views() []segment.View {
	if r.stack == nil {
		return nil
	}
	return r.stack.views
}
