package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// deleteExtra deletes what the comparison has found on the target and the snapshot does not hold, each document as long as
// it is what the comparison saw. The target is read once more for their names; whoever takes the piece over goes on in
// that scan, as long as the target knows its point in time.
func (c *comparing) deleteExtra(ctx context.Context) error {
	err := c.openExtra(ctx)
	for err == nil {
		if err = c.markExtra(ctx); err != nil {
			return err
		}
		err = c.parts(ctx, reconcile.Found, c.deletePart)
		c.restExtra(err)
		if err == nil || !errors.Is(err, errPointLost) || ctx.Err() != nil {
			return err
		}
		err = c.extraAgain(ctx, err)
	}
	return err
}

// openExtra opens the scan of deleteExtra: it is the one that an attempt before has marked, if there is one.
func (c *comparing) openExtra(ctx context.Context) error {
	c.mu.Lock()
	begun := len(c.Marks[reconcile.Found]) > 0
	if !begun {
		c.ReadFound = 0
	}
	if c.Deleting { // a worker was killed while it deleted
		c.unanswered = 1
	}
	c.mu.Unlock()
	if !begun {
		return c.openScan(ctx)
	}
	lost, err := c.reopenScan(ctx)
	if lost == nil {
		return err
	}
	return c.extraAgain(ctx, lost)
}

// markExtra writes down at which point in time the scan is, before anything is deleted: whoever takes the piece over
// meets there also what was deleted and not counted.
func (c *comparing) markExtra(ctx context.Context) error {
	n := c.slices()
	c.mu.Lock()
	if len(c.Marks[reconcile.Found]) != n {
		c.Marks[reconcile.Found] = make([]mark, n)
	}
	c.Deleting, c.dirty = true, true
	c.mu.Unlock()
	return c.save(ctx)
}

// restExtra notes, when nobody deletes any more, whether all that was deleted is counted: it is when the scan has ended,
// and before that unless an answer is missing.
func (c *comparing) restExtra(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Deleting, c.dirty = err != nil && c.unanswered > 0, true
}

// mostBegun is how often a scan that begins anew may count from the beginning: with the leases that grow meanwhile, it
// fits into one also where it can never go on. After that its attempts count.
const mostBegun = 10

// extraAgain begins deleteExtra anew, at another point in time: what was deleted is not met again, and what was left is.
func (c *comparing) extraAgain(ctx context.Context, why error) error {
	c.Logger.Warn("the target has forgotten the point in time at which it was read for documents to be deleted, and is read again",
		"worker", c.Worker, "index", c.held.Piece().Target, "error", why)
	c.mu.Lock()
	c.Read -= c.ReadFound
	c.ReadFound, c.Marks[reconcile.Found], c.dirty = 0, nil, true
	c.Extra = Mended{Deleted: c.Extra.Deleted, Uncounted: c.Extra.Uncounted || c.Deleting}
	c.Deleting, c.unanswered = false, 0
	c.Begun++
	read, counts := c.Read, c.Begun <= mostBegun
	c.mu.Unlock()
	if counts {
		err := c.held.Update(func(piece check, _ time.Time) (check, error) {
			piece.Read = min(piece.Read, read)
			return piece, nil
		})
		if err != nil {
			return err
		}
	}
	return c.openScan(ctx)
}

// deletePart is deleteExtra for a slice of the target, from a mark on.
func (c *comparing) deletePart(ctx context.Context, n int, from mark) error {
	m := &mending{comparing: c, side: reconcile.Found, n: n, target: c.held.Piece().Target, batch: &batch{}, marked: time.Now()}
	slice := c.open().Slice(n, from.After)
	for {
		at := mark{After: slice.Cursor()}
		if m.read >= markEvery || m.read > 0 && time.Since(m.marked) > markAfter {
			if err := m.send(ctx, at); err != nil {
				return err
			}
		}
		doc, err := slice.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return m.send(ctx, mark{Ended: true})
		case fault.Is(err, fault.Stale):
			return fmt.Errorf("%w: %w", errPointLost, err)
		case err != nil:
			return err
		}
		if err := m.remove(ctx, doc, at); err != nil {
			return err
		}
		m.read++
	}
}

// remove puts the deletion of a document into the batch, if it is one too many. The batch before it ends at the mark.
func (m *mending) remove(ctx context.Context, doc *document.Document, at mark) error {
	found, extra := m.run.Extra(m.printer.Key(doc.ID, doc.Routing))
	if !extra {
		return nil
	}
	if !m.agreed.has(m.printer.Key(doc.ID, doc.Routing), found) {
		m.leave(string(doc.ID), string(doc.Routing))
		return nil
	}
	op := cluster.Op{Action: cluster.Delete, Index: m.sentTo(m.target), ID: doc.ID, Routing: doc.Routing, Version: -1}
	if !m.writer.Room(&m.batch.Batch, &op) {
		if err := m.send(ctx, at); err != nil {
			return err
		}
	}
	m.batch.cares = append(m.batch.cares, care{mine: func(there *standing) bool { return there.content == found }})
	return m.batch.Add(op)
}
