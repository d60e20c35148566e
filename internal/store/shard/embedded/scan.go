package embedded

import (
	"context"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

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
		return nil, errReopened()
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
			return row, false, errReopened()
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
	row, err = rowUnder(c.it, shard.Ref{Key: order, ID: string(id)}, h, what.NoSource, c.buffer)
	return c.own(row), true, err
}

// own is a row whose source lies in the cursor's buffer, where it may have been unpacked.
func (c *cursor) own(row shard.Row) shard.Row {
	if len(row.Source) > 0 && (cap(c.buffer) == 0 || &row.Source[0] != &c.buffer[:1][0]) {
		c.buffer = append(c.buffer[:0], row.Source...)
		row.Source = c.buffer
	}
	return row
}
