package migrate

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/reconcile"
	"github.com/reshelve/reshelve/snapshot"
)

// mending is one shard of the snapshot, or of the one before it, that is read for what is to be
// written, or deleted, again.
type mending struct {
	*comparing
	side    reconcile.Side
	n       int
	target  string
	batch   *batch
	printer document.Fingerprinter
	read    int64 // documents since the last mark
	marked  time.Time
}

func (c *comparing) mendPart(ctx context.Context, side reconcile.Side, n int, from mark) error {
	m := &mending{comparing: c, side: side, n: n, target: c.held.Piece().Target, batch: &batch{}, marked: time.Now()}
	return c.shardOf(ctx, side, n, from, func(docs *snapshot.Documents) error {
		for docs.Next() {
			doc := docs.Document()
			if time.Since(m.marked) > markAfter {
				if err := m.send(ctx, mark{Position: doc.Position.Number}); err != nil {
					return err
				}
			}
			m.read++
			if err := m.take(ctx, doc); err != nil {
				return err
			}
		}
		if docs.Err() != nil {
			return nil // shardOf tells it
		}
		return m.send(ctx, mark{Ended: true})
	})
}

// take puts a document into the batch, if it is to be sent.
func (m *mending) take(ctx context.Context, doc *document.Document) error {
	key := m.printer.Key(doc.ID, doc.Routing)
	if m.side == reconcile.Before {
		version := int64(reconcile.UnknownVersion)
		if doc.Versions != nil {
			version = doc.Versions.Version + 1 // of the deletion, which comes after what it deletes
		}
		if version > 0 && m.run.Delete(key, version) {
			op := cluster.Op{Action: cluster.Delete, Index: m.target, ID: doc.ID, Routing: doc.Routing, Version: version}
			return m.put(ctx, doc, &op)
		}
		return nil
	}
	if !m.run.Mend(key, doc.Position.Shard, doc.Position.Number) || m.belongs != nil && !m.belongs(doc) {
		return nil
	}
	target, err := m.takesAgain(ctx, doc.Index)
	if err != nil {
		return err
	}
	kept, failure := m.shape(doc, nil)
	if !kept {
		return nil
	}
	if failure != nil {
		m.batch.pass(doc, failure)
		return nil
	}
	if m.plan.NoVersions {
		doc.Versions = nil
	}
	op := m.op(doc, target)
	return m.put(ctx, doc, &op)
}

// put adds an operation, and sends the batch before when it has no room.
func (m *mending) put(ctx context.Context, doc *document.Document, op *cluster.Op) error {
	if !m.writer.Room(&m.batch.Batch, op) {
		if err := m.send(ctx, mark{Position: doc.Position.Number}); err != nil {
			return err
		}
	}
	if op.Action == cluster.Delete {
		return m.batch.Add(*op)
	}
	m.batch.add(doc, *op)
	return nil
}

// send sends the batch, and counts what became of all that stands before the mark.
func (m *mending) send(ctx context.Context, at mark) error {
	var came Mended
	b := m.batch
	if m.side == reconcile.Before {
		if err := m.deletions(ctx, b, &came); err != nil {
			return err
		}
	} else {
		result, err := m.sendNow(ctx, b)
		if err != nil {
			return err
		}
		if came.Gone, err = m.gone(ctx, result.Conflicts); err != nil {
			return err
		}
		came.Counts = b.counts
		if len(b.bad) > 0 {
			came.Cause = b.bad[0].ID + ": " + cut(b.bad[0].Reason, maxReason)
		}
	}
	m.mended(m.side, m.n, at, m.read, &came)
	m.batch, m.read, m.marked = &batch{}, 0, time.Now()
	return nil
}

func (m *mending) deletions(ctx context.Context, b *batch, came *Mended) error {
	if b.Len() == 0 {
		return nil
	}
	result, err := m.writer.Write(ctx, &b.Batch)
	if err != nil {
		return err
	}
	came.Deleted, came.Kept, came.Failed = int64(result.Acknowledged), int64(len(result.Conflicts)), int64(len(result.Failed))
	if len(result.Failed) > 0 {
		came.Cause = result.Failed[0].Error()
	}
	return nil
}
