package embedded

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/shard"
)

// view is a snapshot of Pebble at one sequence number, of one range. It lives as
// long as it is published or has a reader, and ends early when Pebble is replaced.
type view struct {
	shard  *local
	seqNo  int64
	docs   int64
	within routing.Range

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
	return s.newView(&snapshot{Snapshot: db.NewSnapshot()}, s.state.last, s.state.within, s.state.docs)
}

func (s *local) newView(of *snapshot, seqNo int64, within routing.Range, docs int64) *view {
	of.views++
	v := &view{shard: s, seqNo: seqNo, docs: docs, within: within, users: 1, snapshot: of, scans: map[*cursor]bool{}}
	s.views[v] = true
	return v
}

// over is the same snapshot for a shard that owns another range. The mutex is held.
func (v *view) over(within routing.Range) (*view, error) {
	if v.snapshot == nil {
		return nil, v.errEnded()
	}
	counted, err := v.shard.count(v.snapshot, within)
	if err != nil {
		return nil, err
	}
	return v.shard.newView(v.snapshot, v.seqNo, within, counted.docs), nil
}

// drop ends one use of the view. The shard's mutex is held.
func (v *view) drop() error {
	v.users--
	if v.users > 0 {
		return nil
	}
	delete(v.shard.views, v)
	return v.end()
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

// Acquire gives a reader of the view that the last refresh published.
func (s *local) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	if _, err := s.gate.enter(ctx, epoch); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.published.users++
	return &reader{view: s.published}, nil
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

// errEnded is what a reader says whose Pebble was replaced.
func (v *view) errEnded() error {
	return fault.New(fault.Unavailable, "the folder was opened again after a failure, which ended the readers")
}

// Get gives a row that belongs to the caller, tombstones included.
func (r *reader) Get(ctx context.Context, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	if ctx.Err() != nil {
		return shard.Row{}, false, fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
	if err := r.usable(); err != nil || !r.within.Contains(ref.Key) {
		return shard.Row{}, false, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.snapshot == nil {
		return shard.Row{}, false, r.shard.failure(r.errEnded())
	}
	row, found, err := r.shard.get(r.snapshot, ref, noSource)
	return row, found, r.shard.failure(err)
}

// rows is an iterator for find over all rows of the index. With often, most of what
// is looked for is not there.
func (s *local) rows(from pebble.Reader, often bool) (*pebble.Iterator, error) {
	return from.NewIter(&pebble.IterOptions{LowerBound: s.lower, UpperBound: s.upper, UseL6Filters: often})
}

// find puts the iterator on the newest row under a Ref. The row's source is valid
// as long as it stays there.
func (s *local) find(rows *pebble.Iterator, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	var space [128]byte
	if !rows.SeekPrefixGE(appendName(space[:0], s.id.Index, ref.Key, ref.ID)) {
		return shard.Row{}, false, rows.Error()
	}
	_, _, h, err := splitRow(rows.Key())
	if err != nil {
		return shard.Row{}, false, err
	}
	row, err := rowUnder(rows, ref, h, noSource)
	return row, err == nil, err
}

// rowUnder is the row under an iterator. Its value is read only where it is needed;
// Pebble panics when the file of it is damaged.
func rowUnder(rows *pebble.Iterator, ref shard.Ref, h head, noSource bool) (row shard.Row, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.New(fault.Corrupt, "the value of document %q cannot be read: %v", ref.ID, r)
		}
	}()
	if noSource && h.routing == 0 {
		return rowOf(ref, h, nil, true)
	}
	value, err := rows.ValueAndErr()
	if err != nil {
		return shard.Row{}, err
	}
	return rowOf(ref, h, value, noSource)
}

// get reads a row, which the caller may keep.
func (s *local) get(from pebble.Reader, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	rows, err := s.rows(from, false)
	if err != nil {
		return shard.Row{}, false, err
	}
	row, found, err := s.find(rows, ref, noSource)
	row.Source = bytes.Clone(row.Source)
	return row, found, errors.Join(err, rows.Close())
}

// Get answers from the truth. A row above the mark is waited for.
func (s *local) Get(ctx context.Context, epoch int64, ref shard.Ref) (shard.Row, bool, error) {
	placed, err := s.gate.enter(ctx, epoch)
	if err != nil {
		return shard.Row{}, false, err
	}
	defer s.gate.leave()
	if !placed.Range.Contains(ref.Key) {
		return shard.Row{}, false, &shard.Stale{ID: s.id, Asked: epoch, Epoch: placed.Epoch}
	}
	s.ops.get.Add(1)
	s.engine.busy(1, false)
	for {
		life := s.mark.life.Load()
		row, found, err := s.getNow(ref)
		if err != nil {
			return shard.Row{}, false, s.failure(err)
		}
		if found {
			err = s.mark.awaitIn(ctx, life, row.SeqNo)
		}
		switch {
		case err == nil:
			return row, found, nil
		case s.mark.life.Load() == life || ctx.Err() != nil:
			return shard.Row{}, false, fault.At(err, place(s.id))
		} // the store was opened again: what it holds now is the answer
	}
}

func (s *local) getNow(ref shard.Ref) (shard.Row, bool, error) {
	db, done, err := s.engine.use()
	if err != nil {
		return shard.Row{}, false, err
	}
	defer done()
	return s.get(db, ref, false)
}

// Scan reads ahead nothing; a reader that is closed meanwhile ends it with an error.
func (r *reader) Scan(ctx context.Context, what shard.Select) iter.Seq2[shard.Row, error] {
	return func(yield func(shard.Row, error) bool) {
		err := r.usable()
		r.shard.engine.busy(1, false)
		if err == nil {
			err = r.scan(ctx, what, func(row shard.Row) bool { return yield(row, nil) })
		}
		if err != nil {
			yield(shard.Row{}, r.shard.failure(err))
		}
	}
}

func (r *reader) scan(ctx context.Context, what shard.Select, yield func(shard.Row) bool) error {
	within, any := r.within.Meet(what.Range)
	if !any {
		return nil
	}
	c, err := r.cursor(within, what.After)
	if err != nil {
		return err
	}
	defer r.finish(c)
	for {
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, context.Cause(ctx))
		}
		row, more, err := r.step(c, what)
		if err != nil || !more || !yield(row) {
			return err
		}
	}
}

// cursor is one scan of a view.
type cursor struct {
	mu     sync.Mutex
	it     *pebble.Iterator // nil: ended with its view
	begun  bool
	buffer []byte
}

func (c *cursor) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.it.Close()
	c.it = nil
	return err
}

func (v *view) cursor(within routing.Range, behind *shard.Ref) (*cursor, error) {
	lower, upper := rowBounds(v.shard.id.Index, within)
	if behind != nil && within.From <= behind.Key {
		lower = append(appendName(nil, v.shard.id.Index, behind.Key, behind.ID), end)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.snapshot == nil {
		return nil, v.errEnded()
	}
	it, err := v.snapshot.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	c := &cursor{it: it}
	v.scans[c] = true
	return c, nil
}

// finish ends a scan, unless it has ended with its view.
func (v *view) finish(c *cursor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.scans[c] {
		delete(v.scans, c)
		_ = c.close() // step has told what failed
	}
}

// step goes on to the next row that is wanted. The row is valid until the next step.
func (v *view) step(c *cursor, what shard.Select) (row shard.Row, more bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.it == nil:
			return row, false, v.errEnded()
		case !c.begun:
			c.begun = true
			more = c.it.First()
		default:
			more = c.it.Next()
		}
		if !more {
			return row, false, c.it.Error()
		}
		row, wanted, err := c.row(what)
		if err != nil || wanted {
			return row, err == nil, err
		}
	}
}

// row reads the row under the cursor. Its source is a copy: Pebble may be replaced
// while the caller looks at it.
func (c *cursor) row(what shard.Select) (row shard.Row, wanted bool, err error) {
	order, id, h, err := splitRow(c.it.Key())
	if err != nil || h.deleted && !what.Tombstones {
		return row, false, err
	}
	row, err = rowUnder(c.it, shard.Ref{Key: order, ID: string(id)}, h, what.NoSource)
	if row.Source != nil {
		c.buffer = append(c.buffer[:0], row.Source...)
		row.Source = c.buffer
	}
	return row, true, err
}
