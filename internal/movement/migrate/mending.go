package migrate

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
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
	read    int64  // documents since the last mark
	left    Mended // those that are not as the comparison before the repair saw them, since the last mark
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
		if kept, _ := m.shape(doc, nil); !kept || !m.run.Delete(key) {
			return nil
		}
		was := &before{content: contentOf(m.printer.Of(doc.ID, doc.Routing, doc.Source))}
		op := cluster.Op{Action: cluster.Delete, Index: m.sentTo(m.target), ID: doc.ID, Routing: doc.Routing, Version: -1}
		return m.put(ctx, doc, &op, care{mine: was.stands})
	}
	if m.gaps.has(doc) {
		return nil
	}
	if !m.run.Mend(key, doc.Position.Shard, doc.Position.Number, m.phase.Overwrite) || m.belongs != nil && !m.belongs(doc) {
		return nil
	}
	if saw, compared := m.run.Saw(key); compared && saw != 0 && m.judges() && !m.agreed.has(key, saw) {
		m.leave(string(doc.ID), string(doc.Routing))
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
	return m.put(ctx, doc, &op, m.care(key, doc))
}

// judges tells whether the repair replaces or deletes what others have written: that it may do to what the comparison
// before it has seen, and to nothing else.
func (c *comparing) judges() bool { return c.phase.Overwrite || c.phase.DeleteExtra }

// leave leaves a document as it is, which is not as the comparison before the repair saw it.
func (m *mending) leave(id, routing string) {
	m.left.Since++
	m.left.Others = addOthers(m.left.Others, []Other{{ID: id, Routing: routing, What: writtenSince}})
}

// care is how a document is sent again. A delta replaces what the older snapshot held and nothing
// else; other movements what the comparison has seen, if it is still that; where nobody has
// compared it, what is not newer, and without a version, or in a delta, nothing. A repair that
// overwrites replaces what is newer, too, creates whatever is not there, and replaces of what nobody
// has compared what the comparison before it has seen.
func (m *mending) care(key uint64, doc *document.Document) care {
	version := int64(reconcile.UnknownVersion)
	if doc.Versions != nil {
		version = doc.Versions.Version
	}
	p := print{content: contentOf(m.printer.Of(doc.ID, doc.Routing, doc.Source)), version: version}
	saw, compared := m.run.Saw(key)
	if m.older != nil && !m.phase.Overwrite {
		c := p.care(m.was[key])
		c.blind = false
		if !compared { // what the older snapshot held of it was not read
			c.fresh, c.unseen = max(version, 1), true
		}
		return c
	}
	c := care{want: p.content, fresh: version, ties: version >= 0, overwrite: m.phase.Overwrite}
	switch {
	case compared:
		c.mine = func(there *standing) bool { return there.content == saw }
	case m.judges():
		c.mine, c.unseen = func(there *standing) bool { return m.agreed.has(key, there.content) }, true
	case version >= 0:
		c.mine = func(there *standing) bool { return there.Version <= version }
	default: // what others have written cannot be recognised
		c.mine, c.unseen = nothing, true
	}
	return c
}

// put adds an operation, and sends the batch before when it has no room.
func (m *mending) put(ctx context.Context, doc *document.Document, op *cluster.Op, c care) error {
	if !m.writer.Room(&m.batch.Batch, op) {
		if err := m.send(ctx, mark{Position: doc.Position.Number}); err != nil {
			return err
		}
	}
	switch op.Action {
	case cluster.Delete:
		m.batch.cares = append(m.batch.cares, c)
		return m.batch.Add(*op)
	case cluster.Index:
		m.batch.heed(doc, *op, c)
	default: // into a stream, which replaces nothing
		m.batch.add(doc, *op)
	}
	return nil
}

// send sends the batch, and counts what became of all that stands before the mark.
func (m *mending) send(ctx context.Context, at mark) error {
	var came Mended
	b := m.batch
	if m.side != reconcile.Expected {
		if err := m.deletions(ctx, b, &came); err != nil {
			return err
		}
	} else {
		result, err := m.sendNow(ctx, b)
		if err != nil {
			return err
		}
		for i := range result.Conflicts {
			switch result.Conflicts[i].Type {
			case deletedByOthers:
				came.Gone++
			case notCompared:
				came.Unseen++
			}
		}
		came.Counts, came.Others = b.counts, b.others
		if len(b.bad) > 0 {
			came.Cause = b.bad[0].ID + ": " + cut(b.bad[0].Reason, maxReason)
		}
	}
	came.add(&m.left)
	m.mended(m.side, m.n, at, m.read, &came)
	m.batch, m.read, m.marked, m.left = &batch{}, 0, time.Now(), Mended{}
	return nil
}

func (m *mending) deletions(ctx context.Context, b *batch, came *Mended) error {
	if b.Len() == 0 {
		return nil
	}
	m.mu.Lock()
	m.unanswered++
	m.mu.Unlock()
	result, err := m.beside(ctx, &b.Batch, b.cares)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.unanswered--
	m.mu.Unlock()
	came.Others = othersOf(&result)
	came.Deleted, came.Kept, came.Failed = int64(result.Acknowledged), int64(len(result.Conflicts)), int64(len(result.Failed))
	if len(result.Failed) > 0 {
		came.Cause = result.Failed[0].ID + ": " + cut(result.Failed[0].Reason, maxReason)
	}
	return nil
}
