package shard

import (
	"math"

	"github.com/reshelve/reshelve/internal/document"
)

// Met is what a write finds under its Ref.
type Met struct {
	document.Versions      // of the row, when Known
	Known             bool // a row is there: a document or a tombstone
	Present           bool // it is a document
}

// Decide is what op does to what it meets: the version that the new row gets and
// the outcome, or the condition that did not hold. Every engine decides by it, so
// all agree. The rules, and their order, are those that OpenSearch 2.19 shows:
//
//   - a sequence number is asked of a document: a tombstone has none that matches;
//   - versions are compared with a tombstone's as with a document's, and continue over it;
//   - a delete that meets no document writes a tombstone all the same.
//
// One differs: a version that can grow no more stays, where that server's wraps
// around to negative ones (a row's numbers never fall).
func Decide(op *Op, met Met) (version int64, outcome document.Outcome, refused *Conflict) {
	if !allowed(op, met) {
		return 0, 0, &Conflict{ID: op.ID, Condition: op.Condition, Create: op.MustCreate,
			Present: met.Present, Stored: met.Versions, Known: met.Known}
	}
	return versionAfter(op.Condition, met), outcomeOf(op, met), nil
}

func allowed(op *Op, met Met) bool {
	c := op.Condition
	if c.SeqNo != document.Unset && (!met.Present || met.SeqNo != c.SeqNo || met.PrimaryTerm != c.PrimaryTerm) {
		return false
	}
	if op.MustCreate && met.Present {
		return false
	}
	switch {
	case c.Version == document.Unset:
		return true
	case c.VersionType == document.Internal:
		return met.Known && met.Version == c.Version
	case c.VersionType == document.External:
		return !met.Known || met.Version < c.Version
	default:
		return !met.Known || met.Version <= c.Version
	}
}

func versionAfter(c document.Condition, met Met) int64 {
	switch {
	case c.Version != document.Unset && c.VersionType != document.Internal:
		return c.Version
	case !met.Known:
		return 1
	case met.Version == math.MaxInt64:
		return met.Version
	}
	return met.Version + 1
}

func outcomeOf(op *Op, met Met) document.Outcome {
	switch {
	case op.Delete && met.Present:
		return document.Deleted
	case op.Delete:
		return document.Missing
	case met.Present:
		return document.Updated
	}
	return document.Created
}
