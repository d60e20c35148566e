package shard

import (
	"fmt"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

// Conflict is a condition that did not hold. Its kind is fault.Conflict.
type Conflict struct {
	ID        string
	Condition document.Condition
	Create    bool // MustCreate met a document
	Present   bool // what is stored is a document; false: a tombstone, or nothing
	Stored    document.Versions
	Known     bool // something is stored, and Stored holds its numbers
}

// Error tells what was asked and what was met.
func (c *Conflict) Error() string {
	return fmt.Sprintf("document %q: the write asks for %+v (create %t), stored is %+v (known %t, present %t)",
		c.ID, c.Condition, c.Create, c.Stored, c.Known, c.Present)
}

// Unwrap gives the kind.
func (c *Conflict) Unwrap() error { return fault.New(fault.Conflict, "condition failed") }

// Stale is a request that quoted another epoch than the shard's. Nothing of it
// was applied. Its kind is fault.Stale.
type Stale struct {
	ID    ID
	Asked int64
	Epoch int64 // the shard's; 0 when the placement no longer names it
}

// Error tells both epochs.
func (s *Stale) Error() string {
	return fmt.Sprintf("shard %d of index %d has epoch %d, the request quotes %d", s.ID.Number, s.ID.Index, s.Epoch, s.Asked)
}

// Unwrap gives the kind.
func (s *Stale) Unwrap() error { return fault.New(fault.Stale, "stale epoch") }

// Expired is a follower whose changes have been pruned: it must start again from
// a scan. Its kind is fault.Stale.
type Expired struct {
	ID     ID
	After  Position
	Oldest int64 // the first sequence number that is still there
}

// Error tells what is gone.
func (e *Expired) Error() string {
	return fmt.Sprintf("the changes of shard %d of index %d after %d are gone, the oldest is %d: start again with a scan",
		e.ID.Number, e.ID.Index, e.After.SeqNo, e.Oldest)
}

// Unwrap gives the kind.
func (e *Expired) Unwrap() error { return fault.New(fault.Stale, "changes expired") }

// Unknown is a write that was applied but whose sync failed. Its kind is
// fault.Unavailable.
type Unknown struct{ Cause error }

// Error tells the cause.
func (u *Unknown) Error() string {
	return fmt.Sprintf("written, but it is unknown whether it would survive a crash: %v", u.Cause)
}

// Unwrap gives the cause and the kind.
func (u *Unknown) Unwrap() []error {
	return []error{fault.New(fault.Unavailable, "sync failed"), u.Cause}
}

// ReadOnly is a write that was refused because the engine takes none now: its disk
// is full, or has failed. Nothing was applied. Its kind is fault.Unavailable.
type ReadOnly struct{ Cause error }

// Error tells the cause.
func (r *ReadOnly) Error() string { return fmt.Sprintf("writes are refused: %v", r.Cause) }

// Unwrap gives the kind and the cause.
func (r *ReadOnly) Unwrap() []error {
	return []error{fault.New(fault.Unavailable, "read-only"), r.Cause}
}
