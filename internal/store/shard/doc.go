// Package shard is the contract of a shard: the unit that owns a range of order
// keys of one index and answers for its documents.
//
//	              Write(epoch, ops) ──▶ fence? epoch? range? conditions ──▶ rows + changes, synced
//	placement ──▶ Shard                                                         │
//	              Get(epoch, ref)   ◀── the truth, in real time ◀───────────────┤
//	              Acquire           ◀── Reader: the truth at the last refresh ◀─┤
//	              Changes(after)    ◀── what happened after a position ◀────────┘
//
// # Terms
//
//   - row: what the truth holds of one (order key, id): a document or a tombstone,
//     with the sequence number, term and version of the write that made it.
//   - sequence number: the number of a write in its shard, from 0, without holes.
//   - change: the record of one write, by sequence number; it names what was
//     written, not the source.
//   - position: (incarnation, sequence number): a point in a shard's changes.
//     incarnation: the term under which a shard numbers, see package placement.
//   - reader: the rows at one sequence number, published by a refresh.
//   - view: what a reader shows of one segment; see package segment.
//   - holder: a named reader of changes that keeps them from being pruned.
//   - staged: prepared for the term under which a placement will name it; see [Incarnation].
//   - epoch: see package placement. fence: nothing is admitted behind it. permit: the
//     right of one commit group to be written; see [Shard].
//
// # Invariants
//
//  1. A write that was acknowledged is synced: no crash takes it back. Nobody is
//     shown what a crash could take back: an answer that depends on a row that is
//     not synced waits for that sync.
//
//  2. Every request quotes an epoch; one that is not the shard's own is refused as
//     [Stale], with the epoch that the shard has, and nothing of it is applied.
//
//  3. Results are per operation, in their order. An operation is applied wholly (row and
//     change) or not at all.
//
//  4. Sequence numbers grow by one with each applied operation, and over restarts.
//     A row's numbers never fall: a delete leaves a tombstone with its numbers.
//
//  5. Tombstones and changes are pruned only below every holder, reader and the
//     last refresh, and not before their minimum age. A holder whose changes are
//     gone is told [Expired]; it never gets a history with a hole.
//
//  6. Scans are in the order of (order key, id).
//
//  7. A reader's views and its rows are of one sequence number: each document is found
//     once, and what is found is there. Segments are made from the truth, and made again
//     from it when they are damaged or lost.
//
//  8. A shard opens closed: it admits nothing before it has read its placement.
//
//  9. What a shard becomes by a change of ownership is staged first, and counts from the
//     moment at which the placement names its term, not before and not in part.
//
// What a write does to what it meets is decided in one place, [Decide]; what every
// engine must do is held by the suite in package shardtest.
//
// Absent on purpose: JSON, mappings, aliases, updates by merge (package store), what
// documents are found by (an [Indexer] says it), and searching (package search).
package shard
