// Package local is the coordination store of one machine: the file coord.db inside
// a data folder, a bbolt database that one process owns.
//
//	Create, Swap, Delete ──▶ writer (one goroutine: many callers, one transaction, one sync) ──▶ coord.db
//	                              └── synced ──▶ History ──▶ Get, List, Watch: what is synced, and no more
//
// # The file
//
// Two bbolt buckets; all numbers are big-endian, all checksums CRC-32C.
//
//   - "reshelve": "format" is the version of this layout, 1 (4 bytes), and a checksum
//     of that (4). "head" is the revision of the last change (8), its time (8, Unix
//     nanoseconds), the number of records (8), the exclusive or of their checksums (4),
//     and a checksum of these (4).
//   - "records": a key's value is a checksum (4) of key, revision and value; the
//     revision (8); the value.
//
// The list of free pages is not written; it is found again by looking at all pages
// when the file is opened.
//
// # Invariants
//
//  1. A change is answered after its transaction is synced. A read that finds a
//     transaction which is not synced yet waits for that: nobody is shown what a
//     crash could take back.
//  2. A damaged file is fault.Corrupt: never a crash, an endless loop, a wrong value
//     or a missing record. The pages are checked before bbolt, which trusts them,
//     sees them; the head's sum finds records that are missing or old; a record's
//     checksum is looked at each time it is read. One thing cannot be told apart: a
//     damaged newest meta page looks like a last write that a crash tore, and the
//     transaction before it is taken.
//  3. A failed write (a full disk) is fault.Unavailable, changes nothing and is
//     forgotten: the next may succeed, and reads go on. When it cannot be known what
//     the disk has, writes (and reads, if they would show it) fail until the file is
//     opened again.
//  4. The file appears with its format and head in it, or not at all; a file of
//     another format is fault.Refused, one in use fault.Conflict.
//  5. Time does not go back behind the last write, over restarts too.
//
// Two neighbours by key share a page however long they are, so that a change of a
// small record may write a long neighbour again.
//
// Absent on purpose: giving space back to the file system (free pages are used
// again), and a memory of changes over a restart (a watch from before is told to
// list again; see [Remembered]).
package local
