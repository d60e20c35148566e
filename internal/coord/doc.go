// Package coord is the contract of a coordination store: where the only truth
// about indices, placements, movements and work items lies, and is changed by
// compare-and-set.
//
//	Get ──▶ Record{value, revision} ──▶ decide ──▶ Swap(key, revision, value) ──▶ won, or fault.Conflict: read again
//
// # Terms
//
//   - record: a key, a value and its revision.
//   - revision: a number that every change of the store raises; a record has that of
//     its last change. Equal revisions mean an equal value.
//   - watch: the changes of keys with a prefix, in order; see [Store].
//
// # Invariants
//
//  1. Create, Swap and Delete are atomic and durable when they return without an
//     error. Of a call that failed with fault.Unavailable or a context's error it is
//     unknown whether it happened; reading tells.
//  2. A revision is never given twice, not even after a delete and a new create.
//  3. A watch yields every key that changed after its start at least once, with a value not
//     older than the change, in the order of revisions. It never skips silently:
//     when it cannot go on it ends with an error.
//  4. Time is the store's: Now returns it with its possible error, and with how much that has grown
//     since a server's clock was set back.
//
// Package coordtest holds every adapter to all of this. What adapters without a
// server of their own have in common is here: the conditions of a change ([Write]),
// the recent changes that watches read ([History]) and a clock ([Clock]).
//
// Absent on purpose: transactions over several records (some stores have none;
// what must change together is one record), leases (package work computes them
// from Now), and credentials in records.
package coord
