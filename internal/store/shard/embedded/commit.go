package embedded

import (
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// commit is one group in the making. The shard's mutex is held.
type commit struct {
	shard   *local
	db      *store
	placed  placement.Shard
	batch   *pebble.Batch
	state   state
	changes []byte
	count   int
	puts    int64
	last    int64
	wrote   []wrote // for the segments, if there are some
}

// wrote is one operation that was applied.
type wrote struct {
	op       *shard.Op
	versions document.Versions
	previous int64 // sequence number of what it replaced; -1: none
}

// apply decides one operation by the row that it meets, and puts another in its place,
// with the source as it is packed, if it is.
func (c *commit) apply(op *shard.Op, packed []byte, old *met) shard.Result {
	if !c.placed.Range.Contains(op.Key) {
		return shard.Result{Err: &shard.Stale{ID: c.shard.id, Asked: c.placed.Epoch, Epoch: c.placed.Epoch}}
	}
	version, outcome, refused := shard.Decide(op, old.Met)
	if refused != nil {
		c.last = max(c.last, old.SeqNo)
		return shard.Result{Versions: old.Versions, Present: old.Present, Err: refused}
	}
	if version < 0 {
		return shard.Result{Err: fault.New(fault.Refused, "document %q: version %d is negative", op.ID, version)}
	}
	c.state.last++
	c.last = c.state.last
	c.count++
	change, stored := shard.Put, op.Source
	h := head{deleted: op.Delete, routing: len(op.Routing),
		Versions: document.Versions{Version: version, SeqNo: c.state.last, PrimaryTerm: c.placed.Term}}
	switch {
	case op.Delete:
		change, stored = shard.Delete, nil
	case len(packed) > 0:
		h.packed, stored = len(op.Source), packed
		fallthrough
	default:
		c.puts++
	}
	if old.Known {
		c.remove(op, old)
	}
	c.changes = appendChange(c.changes, op.Key, op.ID, change, old.SeqNo)
	if c.shard.segments != nil {
		c.wrote = append(c.wrote, wrote{op, h.Versions, old.SeqNo})
	}
	result := shard.Result{Versions: h.Versions, Outcome: outcome, Present: old.Present}
	c.state.tally(old, -1)
	c.put(op, h, stored, old)
	c.state.tally(old, 1)
	return result
}

// tally counts a row n times.
func (s *state) tally(row *met, n int64) {
	switch {
	case !row.Known:
	case row.Present:
		s.docs += n
		s.bytes += n * row.bytes
	default:
		s.tombstones += n
	}
}

// remove deletes the row that is met.
func (c *commit) remove(op *shard.Op, old *met) {
	d := c.batch.DeleteDeferred(rowPrefix + len(op.ID) + 1 + old.size)
	_ = append(appendName(d.Key[:0], c.shard.id.Index, op.Key, op.ID), old.head[:old.size]...)
	_ = d.Finish() // fails on indexed batches alone
}

// put writes the row into the batch, without a copy in between, and is what the next
// operation on it meets.
func (c *commit) put(op *shard.Op, h head, stored []byte, row *met) {
	*row = met{Met: shard.Met{Known: true, Present: !op.Delete, Versions: h.Versions}, bytes: int64(opBytes(op))}
	row.size = len(appendHead(row.head[:0], h))
	d := c.batch.SetDeferred(rowPrefix+len(op.ID)+1+row.size, len(op.Routing)+len(stored))
	_ = append(appendName(d.Key[:0], c.shard.id.Index, op.Key, op.ID), row.head[:row.size]...)
	copy(d.Value[copy(d.Value, op.Routing):], stored)
	_ = d.Finish()
}

// finish adds the run and the state and applies the batch, without waiting for
// the sync.
func (c *commit) finish(now time.Time) error {
	first := c.state.last - int64(c.count) + 1
	c.state.term = c.placed.Term
	head := runHead(c.placed.Term, now, c.count)
	d := c.batch.SetDeferred(runPrefix+1, len(head)+len(c.changes))
	appendRunKey(d.Key[:0], c.shard.id, first)
	copy(d.Value[copy(d.Value, head):], c.changes)
	_ = d.Finish()
	if err := c.batch.Set(stateKey(c.shard.id), encodeState(&c.state), nil); err != nil {
		return err
	}
	return c.db.apply(c.batch)
}
