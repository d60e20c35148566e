// Package postgres is the coordination store in a PostgreSQL database: two small
// tables of a schema.
//
//	Create, Swap, Delete ──▶ one statement: head.revision+1, and the record on its condition ──▶ commit ──▶ NOTIFY
//	Get, List, Revision  ──▶ one statement: one snapshot                                                      │
//	Watch                ──▶ one statement: head and the changes above a revision ◀── woken by it, or by time ┘
//
// # Tables
//
// In the schema "reshelve_coord" (Options.Schema):
//
//   - head, of one row: format (the version of these tables, 1), revision (of the
//     last change), at (its time), horizon (deletions up to it may be forgotten).
//   - record: key and value as bytes, revision, at (the time of its last change); a deletion leaves a
//     row without a value, for watches. To look at them:
//     select convert_from(key, 'UTF8'), revision, convert_from(value, 'UTF8') from reshelve_coord.record
//
// # Invariants
//
//  1. Every change updates head first and holds that row until it is committed: revisions are in the order of commits,
//     so that a snapshot which shows a revision shows all before it.
//  2. A change is one statement, sent whole: no client that pauses holds a lock. It
//     is answered when it is on the disk, whatever the server's default of synchronous_commit.
//  3. A notification is a hint. A watch that misses it sees the change at its next look, by Options.Poll.
//  4. Time is the server's clock_timestamp; it does not go back behind the last write.
//  5. A revision is a step of random length above the one before. So of two histories, as after the
//     promotion of a replica that lacked the last commits, neither takes a revision of the other
//     for its own (but once in four million times).
//  6. A connection that breaks, a server that stops, is full or does not take writes is fault.Unavailable.
//
// It takes a role that may create the schema, or one that may use the schema and
// select, insert, update and delete in its tables. Changes wait for each other: a few hundred a second at
// most, as the disk syncs. Values of 400 bytes, PostgreSQL 15 on two cores that were busy with other things
// (RESHELVE_MEASURE=1), one statement each, p50 and p99: Create 4.3 and 27 ms, Swap 2.4 and 42 ms, Get 0.05 and 1.4 ms, List of
// 100 2.7 and 28 ms, List of 9,900 68 and 108 ms, from a swap to the watch that tells it 8 and 95 ms.
//
// Absent on purpose: noticing that history was lost (a watch that goes on from a lost change may miss
// some of the other history: the process that opens the store has to learn of a failover), sharing tables or transactions with anything else.
package postgres
