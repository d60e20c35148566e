// Package embedded is the shard engine of one machine: one Pebble, an ordered
// store of keys and values, holds the truth of all shards of a data folder.
//
//	Engine ─┬─ folder   format version, lock, ballast
//	        ├─ Pebble   rows, changes, states, holds (keys and values: FORMAT.md)
//	        └─ shards ─┬─ gate    epoch, fence, permits
//	                   ├─ write   decide, number, apply: one mutex; then wait for the sync
//	                   ├─ view    what the last refresh published: a snapshot of Pebble
//	                   └─ prune   what no holder, reader or refresh can need
//
// # Terms
//
//   - run: the changes of one commit group, stored under the first of their
//     sequence numbers.
//   - state: the counts of a shard, stored with every group, so that they are exact
//     after a crash.
//   - mark: the sequence number up to which everything is synced.
//   - view: a snapshot of Pebble at one sequence number, shared by its readers.
//
// # Invariants
//
//  1. A group is one batch: its rows, its run and the state stand or fall together,
//     and Pebble's log keeps batches in the order of sequence numbers.
//  2. A row above the mark is answered by nobody before the mark has passed it.
//  3. Every value that is read is checked as it is decoded; one that does not hold
//     what FORMAT.md says is fault.Corrupt.
//
// Absent on purpose: searching, sources of another form than the bytes that came,
// and a second copy of anything.
package embedded
