package embedded

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Get gives a row that belongs to the caller, tombstones included.
func (r *reader) Get(ctx context.Context, ref shard.Ref, noSource bool) (row shard.Row, found bool, err error) {
	if ctx.Err() != nil {
		return shard.Row{}, false, fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
	if err := r.usable(); err != nil || !r.within.Contains(ref.Key) {
		return shard.Row{}, false, err
	}
	err = r.read(func(from *pebble.Snapshot) (err error) {
		row, found, err = r.shard.get(from, ref, noSource)
		return err
	})
	return row, found, r.shard.failure(err)
}

// Rows keeps an iterator, which finds what comes next without a search from the top.
func (r *reader) Rows() shard.Rows { return &rows{of: r} }

type rows struct {
	of *reader
	at *cursor // nil: not yet
}

func (r *rows) Get(ctx context.Context, ref shard.Ref, noSource bool) (row shard.Row, found bool, err error) {
	if ctx.Err() != nil {
		return shard.Row{}, false, fault.Wrap(fault.Unavailable, context.Cause(ctx))
	}
	if r.at == nil {
		if err = r.of.usable(); err == nil {
			r.at, err = r.of.cursor(r.of.within, nil)
		}
		if err != nil {
			return shard.Row{}, false, r.of.shard.failure(err)
		}
	}
	if !r.of.within.Contains(ref.Key) {
		return shard.Row{}, false, nil
	}
	row, found, err = r.at.find(r.of.shard, ref, noSource)
	return row, found, r.of.shard.failure(err)
}

func (r *rows) Close() error {
	if r.at != nil {
		r.of.finish(r.at)
		r.at = nil
	}
	return nil
}

// find puts the cursor on a row, which is valid until it goes elsewhere.
func (c *cursor) find(s *local, ref shard.Ref, noSource bool) (row shard.Row, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.it == nil {
		return row, false, errReopened()
	}
	row, found, err = s.find(c.it, ref, noSource, c.buffer)
	return c.own(row), found, err
}

// rows is an iterator for find over all rows of the index. With often, most of what
// is looked for is not there.
func (s *local) rows(from pebble.Reader, often bool) (*pebble.Iterator, error) {
	return from.NewIter(&pebble.IterOptions{LowerBound: s.lower, UpperBound: s.upper, UseL6Filters: often})
}

// find puts the iterator on the newest row under a Ref. The row's source is valid
// as long as it stays there; where it is unpacked, in space when there is enough of that.
func (s *local) find(rows *pebble.Iterator, ref shard.Ref, noSource bool, space []byte) (shard.Row, bool, error) {
	var name [128]byte
	if !rows.SeekPrefixGE(appendName(name[:0], s.id.Index, ref.Key, ref.ID)) {
		return shard.Row{}, false, rows.Error()
	}
	_, _, h, err := splitRow(rows.Key())
	if err != nil {
		return shard.Row{}, false, err
	}
	row, err := rowUnder(rows, ref, h, noSource, space)
	return row, err == nil, err
}

// rowUnder is the row under an iterator. Its value is read only where it is needed;
// Pebble panics when the file of it is damaged.
func rowUnder(rows *pebble.Iterator, ref shard.Ref, h head, noSource bool, space []byte) (row shard.Row, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.New(fault.Corrupt, "the value of document %q cannot be read: %v", ref.ID, r)
		}
	}()
	if noSource && h.routing == 0 {
		return rowOf(ref, h, nil, true, nil)
	}
	value, err := rows.ValueAndErr()
	if err != nil {
		return shard.Row{}, err
	}
	return rowOf(ref, h, value, noSource, space)
}

// get reads a row, which the caller may keep.
func (s *local) get(from pebble.Reader, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	rows, err := s.rows(from, false)
	if err != nil {
		return shard.Row{}, false, err
	}
	row, found, err := s.find(rows, ref, noSource, nil)
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
