package memory

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// truth is all that a shard holds: the pure core. It decides by what it is given
// alone; times come in as values. Not safe for concurrent use.
type truth struct {
	rows   tree
	log    []logged // the changes with sequence numbers pruned+1 … last
	pruned int64    // changes up to it are gone; -1: none
	holds  map[string]shard.Position
	counts counts
	// inherits is since when there may be tombstones of shards that this one came from, which
	// stand in no changes; zero: there are none.
	inherits time.Time
}

// logged is a change and when it was applied.
type logged struct {
	shard.Change
	at time.Time
}

// counts are exact for the range that they were counted in.
type counts struct{ docs, tombstones, bytes int64 }

func newTruth() *truth {
	return &truth{pruned: -1, holds: map[string]shard.Position{}}
}

// copy is a truth of its own.
func (t *truth) copy() *truth {
	own := *t
	own.log, own.holds = slices.Clip(t.log), maps.Clone(t.holds)
	return &own
}

// last is the last sequence number given out; -1: none.
func (t *truth) last() int64 { return t.pruned + int64(len(t.log)) }

// apply takes one operation, under the primary term of the shard.
func (t *truth) apply(op *shard.Op, term int64, at time.Time) shard.Result {
	ref := shard.Ref{Key: op.Key, ID: op.ID}
	old, known := t.rows.get(ref)
	met := shard.Met{Known: known, Versions: document.Versions{Version: -1, SeqNo: -1, PrimaryTerm: -1}}
	if known {
		met.Versions, met.Present = old.Versions, !old.Deleted
	}
	version, outcome, refused := shard.Decide(op, met)
	if refused != nil {
		return shard.Result{Versions: met.Versions, Present: met.Present, Err: refused}
	}
	row := shard.Row{Ref: ref, Routing: op.Routing, Deleted: op.Delete,
		Versions: document.Versions{Version: version, SeqNo: t.last() + 1, PrimaryTerm: term}}
	change := shard.Change{Ref: ref, SeqNo: row.SeqNo, Op: shard.Delete, Previous: met.SeqNo}
	if !op.Delete {
		row.Source, change.Op = bytes.Clone(op.Source), shard.Put
	}
	if known {
		t.counts.add(old, -1)
	}
	t.counts.add(&row, 1)
	t.rows = t.rows.with(row)
	t.log = append(t.log, logged{change, at})
	return shard.Result{Versions: row.Versions, Outcome: outcome, Present: met.Present}
}

// add counts a row n times.
func (c *counts) add(row *shard.Row, n int64) {
	if row.Deleted {
		c.tombstones += n
		return
	}
	c.docs += n
	c.bytes += n * int64(len(row.ID)+len(row.Routing)+len(row.Source))
}

// recount counts the rows of a range again: the one that the shard now owns.
func (t *truth) recount(r routing.Range) {
	t.counts = counts{}
	for row := range t.rows.within(r, nil) {
		t.counts.add(row, 1)
	}
}

// within is the same truth with the rows of a range alone: its changes and holds stay.
func (t *truth) within(r routing.Range) *truth {
	less := *t
	less.rows = nil
	for row := range t.rows.within(r, nil) {
		less.rows = less.rows.with(*row)
	}
	less.recount(r)
	return &less
}

// changes are those after a sequence number, at most limit, never changed later;
// false when some of them are gone.
func (t *truth) changes(after int64, limit int) ([]logged, bool) {
	if after < t.pruned {
		return nil, false
	}
	first := min(after-t.pruned, int64(len(t.log)))
	found := t.log[first:]
	return found[:min(len(found), max(limit, 0))], true
}

// hold sets or moves a hold forward; false when the changes after it are gone.
func (t *truth) hold(name string, position shard.Position) bool {
	if position.SeqNo < t.pruned {
		return false
	}
	if old, is := t.holds[name]; !is || old.SeqNo <= position.SeqNo {
		t.holds[name] = position
	}
	return true
}

// prune removes the changes up to bound that were applied at or before cutoff, and
// the tombstones that they left; and of a range, in time, those that were inherited. Holds lower
// the bound.
func (t *truth) prune(bound int64, cutoff time.Time, within routing.Range) {
	for _, position := range t.holds {
		bound = min(bound, position.SeqNo)
	}
	for len(t.log) > 0 && t.log[0].SeqNo <= bound && !t.log[0].at.After(cutoff) {
		t.bury(&t.log[0].Change)
		t.pruned, t.log = t.log[0].SeqNo, t.log[1:]
	}
	if t.inherits.IsZero() || t.inherits.After(cutoff) {
		return
	}
	for row := range t.rows.within(within, nil) { // of the tree as it is now
		if row.Deleted && row.SeqNo <= t.pruned {
			t.counts.add(row, -1)
			t.rows = t.rows.without(row.Ref)
		}
	}
	t.inherits = time.Time{}
}

// bury removes the tombstone that a change left, if it is still there: the row of a
// document that was made again is another.
func (t *truth) bury(change *shard.Change) {
	row, known := t.rows.get(change.Ref)
	if change.Op == shard.Delete && known && row.SeqNo == change.SeqNo {
		t.counts.add(row, -1)
		t.rows = t.rows.without(change.Ref)
	}
}
