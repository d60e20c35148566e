package store

import (
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// update turns an update into the write that it comes to: it reads the document,
// changes its source and writes it on the condition that nobody else has. Send is
// false when nothing is to be written, and the item is answered or stale.
func (b *bulk) update(q *queue, it *item, op shard.Op) (_ shard.Op, send bool) {
	row, found, err := q.shard.Get(b.ctx, q.epoch, it.ref)
	switch {
	case fault.Is(err, fault.Stale):
		it.stale = err
		return op, false
	case err != nil:
		it.fail(err)
		return op, false
	}
	if !found || row.Deleted {
		return b.upsert(q, it, op)
	}
	w, change := it.write, it.write.Change
	if err := q.index.expected(w.Condition, row, q.shard.ID().Number); err != nil {
		it.fail(err)
		return op, false
	}
	doc := change.Doc
	if doc == nil {
		doc = []byte("{}")
	}
	source, changed, err := mergeSource(row.Source, doc)
	if err != nil {
		it.fail(exception.From(err))
		return op, false
	}
	if it.routing == "" {
		op.Routing = row.Routing
	}
	if change.WantSource {
		it.answer.Source = source
	}
	if !changed && change.DetectNoop {
		if err := b.hold(it, int64(len(source))); err != nil {
			it.answer.Source = nil
			it.fail(err)
			return op, false
		}
		it.answer.Outcome, it.answer.Versions = document.Noop, row.Versions
		q.index.tallies.count(q.shard.ID().Number, func(t *tally) { t.noops++ })
		return op, false
	}
	op.Source = source
	op.Condition = document.Condition{SeqNo: row.SeqNo, PrimaryTerm: row.PrimaryTerm, Version: document.Unset}
	return op, b.fits(q, it, source)
}

// upsert is an update of a document that is not there.
func (b *bulk) upsert(q *queue, it *item, op shard.Op) (_ shard.Op, send bool) {
	change := it.write.Change
	source := change.Upsert
	if change.DocAsUpsert { // it counts more
		source = change.Doc
	}
	if source == nil {
		it.fail(q.index.in(exception.New(exception.DocumentMissing, "[%s]: document missing", it.ref.ID), q.shard.ID().Number))
		return op, false
	}
	if change.WantSource {
		it.answer.Source = source
	}
	op.Source, op.MustCreate, op.Condition = source, true, document.Always
	return op, b.fits(q, it, source)
}

// fits checks a changed source against the mapping, and answers the item when it
// does not fit.
func (b *bulk) fits(q *queue, it *item, source []byte) bool {
	err := b.store.tooLarge(source)
	if err == nil {
		err = b.hold(it, int64(len(source)))
	}
	var checked *index
	if err == nil {
		checked, err = b.store.check(b.ctx, q.index, source, it.ref.ID)
	}
	if err != nil {
		it.answer.Source = nil
		it.fail(err)
		return false
	}
	q.index = checked
	return true
}

// hold asks for room for the source that the answer to an item has, before it is applied.
func (b *bulk) hold(it *item, bytes int64) error {
	if b.room == nil || !it.write.Change.WantSource {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.room(bytes)
}

// expected holds the condition that the caller of an update set against the row.
func (idx *index) expected(c document.Condition, row shard.Row, number uint32) error {
	if c.SeqNo == document.Unset || (c.SeqNo == row.SeqNo && c.PrimaryTerm == row.PrimaryTerm) {
		return nil
	}
	return idx.conflict(&shard.Conflict{ID: row.ID, Condition: c, Present: true, Known: true, Stored: row.Versions}, number)
}
