// Package embedded is the shard engine of one machine: one Pebble, an ordered
// store of keys and values, holds the truth of all shards of a data folder.
//
//	Engine ─┬─ folder    format version, lock, ballast
//	        ├─ store     Pebble (keys and values: FORMAT.md) over a seal of its files
//	        ├─ space     may be written? ── mend opens the folder again after a failure
//	        └─ local     one shard ─┬─ gate    epoch, fence, permits
//	                                ├─ write   meet, decide, number, apply: one mutex; then wait for the sync
//	                                ├─ view    what the last refresh published: a snapshot of Pebble
//	                                └─ prune   what no holder, reader or refresh can need
//
// # Terms
//
//   - head: what the key of a row holds behind its name: versions and flags, all that a
//     write must know of what it meets. Values are read for sources alone.
//   - run: the changes of one commit group, stored under the first of their
//     sequence numbers.
//   - state: the counts of a shard, stored with every group, so that they are exact
//     after a crash.
//   - mark: the sequence number up to which everything is synced. It has a life from
//     one opening of the folder to the next.
//   - view: a snapshot of Pebble at one sequence number, shared by its readers.
//   - seal: the file system below Pebble, which after a first failure to write lets
//     nothing reach the disk any more, and does not tell Pebble.
//
// # Invariants
//
//  1. A group is one batch: its rows, its run and the state stand or fall together,
//     and Pebble's log keeps batches in the order of sequence numbers.
//  2. A row above the mark is answered by nobody before the mark has passed it, in
//     the same life.
//  3. Behind the seal the disk stays as it was; no write is acknowledged whose sync
//     ended behind it. The folder is then opened again: what is there is what was
//     synced, and perhaps some of what its writers were told to be unknown.
//  4. No failure of the disk ends the process, and none blocks a caller beyond its
//     context; reads go on from what was open.
//  5. Every key and value that is read is checked as it is decoded; one that does not
//     hold what FORMAT.md says is fault.Corrupt.
//
// Absent on purpose: searching, sources of another form than the bytes that came,
// and a second copy of anything.
package embedded
