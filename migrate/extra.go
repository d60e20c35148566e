package migrate

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/reconcile"
)

// deleteExtra deletes what the comparison has found on the target and the snapshot does not hold, each document as long as
// it is what the comparison saw. The target is read once more for their names; whoever takes the piece over begins that anew.
func (c *comparing) deleteExtra(ctx context.Context) error {
	c.mu.Lock()
	c.Marks[reconcile.Found] = nil
	c.mu.Unlock()
	if err := c.openScan(ctx); err != nil {
		return err
	}
	defer c.closeScan(ctx)
	return c.parts(ctx, reconcile.Found, func(ctx context.Context, n int, _ mark) error { return c.deletePart(ctx, n) })
}

// deletePart is deleteExtra for a slice of the target.
func (c *comparing) deletePart(ctx context.Context, n int) error {
	m := &mending{comparing: c, side: reconcile.Found, n: n, target: c.held.Piece().Target, batch: &batch{}, marked: time.Now()}
	slice := c.open().Slice(n, "")
	for {
		doc, err := slice.Next(ctx)
		if errors.Is(err, io.EOF) {
			return m.send(ctx, mark{Ended: true})
		}
		if err == nil {
			m.read++
			err = m.remove(ctx, doc)
		}
		if err != nil {
			return err
		}
	}
}

// remove puts the deletion of a document into the batch, if it is one too many.
func (m *mending) remove(ctx context.Context, doc *document.Document) error {
	found, extra := m.run.Extra(m.printer.Key(doc.ID, doc.Routing))
	if !extra {
		return nil
	}
	op := cluster.Op{Action: cluster.Delete, Index: m.sentTo(m.target), ID: doc.ID, Routing: doc.Routing, Version: -1}
	if !m.writer.Room(&m.batch.Batch, &op) {
		if err := m.send(ctx, mark{}); err != nil {
			return err
		}
	}
	m.batch.cares = append(m.batch.cares, care{mine: func(there *standing) bool { return there.content == found }})
	return m.batch.Add(op)
}
