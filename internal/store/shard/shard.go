package shard

import (
	"context"
	"iter"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// ID names a shard of an engine.
type ID struct {
	Index  uint32 // the index's number; see package catalog
	Number uint32
}

// Placements reads the truth about who owns what. Safe for concurrent use.
type Placements interface {
	// Placement is the newest placement of the index; fault.NotFound when there is none.
	Placement(ctx context.Context, index uint32) (placement.Placement, error)
}

// Engine holds the shards of one node. Safe for concurrent use.
type Engine interface {
	// Open opens a shard, empty when it has never been written to, and publishes a
	// reader of all that it has. The same ID opened twice without Close is a
	// fault.Conflict. When the placement cannot be read, the error is that of the
	// reading; one that does not name the shard gives a shard that refuses everything.
	Open(ctx context.Context, id ID, placements Placements, settings Settings) (Shard, error)
	// Stage prepares, durably, what open shards of an index (from) are to become: the
	// incarnations of to own what from owns, and nothing else. Each shows what the shards of
	// from show, refreshed by Stage, and goes on numbering behind the highest of their
	// numbers. Nothing of from changes, and what is staged counts for nothing until the
	// placement names its term: then Open, or Reload of a shard that goes on, takes it up.
	// Staging again replaces what was staged for the same shards; what has not changed is
	// not made again, so that the call behind a fence is short when there was one before it.
	//
	// An incarnation of one shard of from that goes on under its number keeps its changes and
	// holds. Any other begins without: its first change is the one behind what was staged.
	//
	// What [CheckStage] refuses is a fault.Bug. A shard of from that is not open is a
	// fault.NotFound, and *Stale when it owns nothing; an incarnation of another shard that is
	// open is a fault.Conflict.
	Stage(ctx context.Context, index uint32, from []uint32, to []Incarnation) (*Staged, error)
	// Unstage removes what is staged of an index, durably, but for what the placement names
	// already. Repeating it is harmless.
	Unstage(ctx context.Context, index uint32, placements Placements) error
	// Forget removes what is kept of a shard that is closed and that the placement does not
	// name: its changes, holds and manifest, not the documents, which are another's. Durable
	// when it returns; repeating it is harmless. With the shard open it is a fault.Conflict.
	Forget(ctx context.Context, id ID) error
	// Drop removes everything of an index whose shards are closed. Durable when it
	// returns; repeating it is harmless. With a shard open it is a fault.Conflict.
	Drop(ctx context.Context, index uint32) error
	// Indices are the numbers of the indices of which the engine holds something; none
	// of them has only been opened.
	Indices(ctx context.Context) ([]uint32, error)
	// OnDisk is how many bytes an index takes on disk, what searches use included: files of its
	// own exactly, and its part of those that it shares with other indices as nearly as the
	// engine knows it. What stands in a log alone is not counted. It is cheap; known is false
	// when the engine cannot say.
	OnDisk(index uint32) (bytes int64, known bool)
	// Health tells whether writes are taken now. It is cheap.
	Health() Health
	// Close ends the engine; its shards must be closed.
	Close() error
}

// Settings of a shard. The zero value of a field is its default.
type Settings struct {
	MinimumAge time.Duration // of changes and tombstones before they are pruned; 60 s
	Indexer    Indexer       // nil: the shard has no segments
}

// Indexer makes documents findable. Safe for concurrent use.
type Indexer interface {
	// Into gives what puts documents into a builder, one root with its children for each
	// call: it is used as long as the builder is, by one at a time. An error is told in the
	// log; the document is in the segment all the same, with what could be indexed.
	Into(b *segment.Builder) func(row Row) error
}

// Health of an engine.
type Health struct {
	ReadOnly error // why writes are refused now; nil when they are taken
	Disk     Disk
}

// Disk is what is known of the space of an engine, in bytes; zeros in memory.
type Disk struct{ Used, Free, LowWater, Total int64 }

// Op is one write as a shard takes it. The shard keeps no slice of it after
// Write has returned.
type Op struct {
	Key     routing.Key
	ID      string
	Routing string
	// Delete leaves a tombstone; otherwise Source is put.
	Delete bool
	// MustCreate refuses when a document is there (a tombstone is none).
	MustCreate bool
	Source     []byte
	Condition  document.Condition
	// AutoID promises that no document has this id: the shard may put without looking.
	AutoID bool
}

// Result answers one Op. When Err is set nothing was applied, and Versions and
// Present tell what was met, as far as it is known.
//
// Err is a *Conflict, a *Stale, a *ReadOnly, or of kind fault.Unavailable when the
// engine is failing. Of an operation whose sync failed it is unknown whether
// it will be there after a crash: Err is then an *Unknown.
type Result struct {
	document.Versions
	Outcome document.Outcome // Created, Updated, Deleted or Missing
	Present bool             // a document (not a tombstone) was there before
	Err     error
}

// Ref names a row.
type Ref struct {
	Key routing.Key
	ID  string
}

// Remains is what an engine would know of a shard if the last changes of its folder were given up.
type Remains struct {
	SeqNo  int64           // the last that was given out; -1: none
	Range  routing.Range   // that it owned when it was written to last
	Staged map[int64]int64 // by term: the last number of what is staged for it
}

// Row is what the truth holds under a Ref. Slices belong to the caller after
// Get, and to the iterator, until its next step, during a scan; see also Rows.
type Row struct {
	Ref
	document.Versions
	Routing string
	Deleted bool // a tombstone; without source
	Source  []byte
}

// Operation says what a Change was.
type Operation uint8

// The operations of changes.
const (
	Put Operation = iota
	Delete
)

// Change is one applied write.
type Change struct {
	Ref
	SeqNo    int64
	Op       Operation
	Previous int64 // sequence number of the row that it replaced; -1: none
}

// Position is a point in a shard's changes: after it, the next to read is SeqNo+1.
// SeqNo -1 is the beginning.
type Position struct {
	Incarnation int64
	SeqNo       int64
}

// Select chooses what a scan yields.
type Select struct {
	Range      routing.Range
	After      *Ref // rows behind this one; nil: from the start of Range
	Tombstones bool // yield them too
	NoSource   bool // leave Source nil
}

// Reader is the truth at one sequence number: what the last refresh published.
// Safe for concurrent use. Close it: it keeps changes, tombstones and disk space.
type Reader interface {
	SeqNo() int64 // all writes up to it are in, none above
	Docs() int64  // documents, tombstones not counted
	Get(ctx context.Context, ref Ref, noSource bool) (row Row, found bool, err error)
	// Rows gives what reads many rows, one after the other.
	Rows() Rows
	Scan(ctx context.Context, what Select) iter.Seq2[Row, error]
	// Views are the segments in which the documents of the reader can be found: each
	// document that Get finds is shown by exactly one of them, and nothing else is. They
	// are valid until Close.
	Views() []segment.View
	// Lacks is why Views do not show what Get finds; nil when they do, or nobody knows better. The
	// shard makes them again by itself, for readers to come.
	Lacks() error
	Close() error
}

// Rows reads rows as Get of its Reader does, and is the faster the nearer to each other they
// are in the order of scans. It is used by one goroutine, and closed before its Reader.
type Rows interface {
	// Get gives a row that is valid until the next call.
	Get(ctx context.Context, ref Ref, noSource bool) (row Row, found bool, err error)
	Close() error
}

// Stats are counts of a shard. Docs are exact at SeqNo; Tombstones and Bytes are too, but
// for some seconds after a change of ownership, in which they are estimates.
type Stats struct {
	Docs       int64 // documents in the truth
	Tombstones int64
	Bytes      int64 // of ids, routing and sources of the documents, before compression
	SeqNo      int64 // the last given out; -1: none
	Synced     int64 // the last that no crash takes back
	Refreshed  int64 // of the published reader
	Searchable int64 // documents that a reader of now shows, or will once they are indexed; 0 where none can be had
	Pruned     int64 // changes up to it are gone; -1: none
	Segments   int   // of the published reader; 0 in an engine that has none
	Estimated  bool  // Tombstones and Bytes are, and Docs are what segments have shown
	Repairs    Repairs
	Ops        OpCounts
}

// Repairs count, since the shard was opened, how often documents were indexed that had been
// before.
type Repairs struct {
	Count  int64 // searches showed another number of documents than there were
	Damage int64 // a file was damaged
	Order  int64 // Reindex
}

// OpCounts count since the shard was opened.
type OpCounts struct{ Index, Delete, Get, Refresh int64 }

// Merging is what segments are merged for. The zero value is what happens by itself, at once.
type Merging struct {
	Segments int  // not more than so many are left, and none that hides something if it is one; 0: any number
	Expunge  bool // none is left that hides more than a tenth of its documents
}

// Shard owns one range of order keys of one index. Safe for concurrent use.
type Shard interface {
	ID() ID
	// Placed is the shard's row of the placement as it was last read.
	Placed() placement.Shard

	// Write applies ops in order and returns when all that it reports applied is
	// synced. It takes permits for groups of at most 1 MB, and waits for a fence
	// within ctx's deadline; what was not admitted then is *Stale or
	// fault.Unavailable, and was not applied; so is what comes when ctx has ended. An
	// operation on a key outside of the shard's range is *Stale by itself. The result
	// has the length of ops.
	Write(ctx context.Context, epoch int64, ops []Op) []Result

	// Get reads a row in real time, tombstones included. A row that is not synced
	// yet is waited for.
	Get(ctx context.Context, epoch int64, ref Ref) (row Row, found bool, err error)

	// Acquire is the reader that the last refresh published, with the epoch checked.
	Acquire(ctx context.Context, epoch int64) (Reader, error)

	// Refresh publishes a reader of everything written before the call, synced, and
	// returns its sequence number. Without a new write it publishes nothing.
	Refresh(ctx context.Context) (int64, error)

	// AwaitRefresh waits until a reader of at least seqNo is published by somebody.
	AwaitRefresh(ctx context.Context, seqNo int64) error

	// Mend reads all segments, makes those again that are damaged, indexes what they lack and
	// should show, and publishes a reader of everything written before the call. It is for who
	// met a *segment.Damaged in a view, or one that lacks something; readers that are open stay
	// as they are.
	Mend(ctx context.Context) error

	// Reindex makes all segments again, out of what is written, and publishes them when they are
	// made; writes, gets and searches go on meanwhile. Told, if it is not nil, gets the number of rows
	// that have been read.
	Reindex(ctx context.Context, told func(rows int64)) error

	// Shed writes some segments again, as one, of which the shard shows a part and another may
	// show the rest, without that rest. It tells how many bytes of such segments it has read, and how
	// many there are still; 0: none. Wrote, if it is not nil, is told of bytes as they are written, and
	// may wait: nothing waits for Shed meanwhile. Its error ends Shed.
	Shed(ctx context.Context, wrote func(ctx context.Context, bytes int) error) (read, left int64, err error)

	// Merge writes what was refreshed before the call into files, and segments again, until
	// the wish is fulfilled; see [Merging]. It takes the slot of merges, and the memory of one.
	Merge(ctx context.Context, wish Merging) error

	// Changes yields the synced changes after a position, oldest first, at most
	// limit. *Expired when they have been pruned, *Stale for another incarnation.
	Changes(ctx context.Context, after Position, limit int) iter.Seq2[Change, error]

	// Hold keeps the changes after position, and their tombstones, until Release;
	// repeating it under the same name moves the hold forward, to a higher number or
	// to the same under a later incarnation. Holds are durable. *Expired when the
	// changes are gone, *Stale for another incarnation.
	Hold(ctx context.Context, name string, position Position) error
	// Release ends a hold; one that does not exist is harmless.
	Release(ctx context.Context, name string) error
	// Holds are all holds by name.
	Holds() map[string]Position

	// Fence admits nothing more of the shard, waits until the groups that hold
	// permits are applied and synced, and returns the last sequence number. Requests
	// wait meanwhile: writes, gets and acquires; readers, refreshes, changes and holds
	// go on. Release, which may be called twice, admits again, by the placement as it
	// is then read; when it cannot be read the shard stays fenced, and release may be
	// called again. A second fence waits for the first, within ctx.
	Fence(ctx context.Context) (seqNo int64, release func(context.Context) error, err error)

	// Reload reads the placement again and takes the new epoch, but never goes back to
	// an older version, and lifts no fence. A shard that the placement no longer names,
	// or whose index has none, refuses everything as *Stale. A shard whose range has
	// shrunk shows what is left from then on; readers that are open stay as they are.
	// When the placement cannot be read, nothing changes.
	Reload(ctx context.Context) error

	// Prune removes changes and tombstones that invariant 5 allows to, as of now. The
	// changes of one group may go together, and not before the last may.
	Prune(ctx context.Context, now time.Time) error

	// Waits counts the requests that have waited for a fence since the shard was opened, by
	// how long.
	Waits() Waits

	Stats() Stats
	// Discard tells that the index is to be dropped: Close then prepares nothing for another
	// opening. It takes nothing away.
	Discard()
	// Close waits for running requests and readers. Afterwards every request is
	// answered *Stale with Epoch 0: whoever still holds the shard must look again
	// for the one that answers. Holds stay.
	Close() error
}
