// Package embedded is the shard engine of one machine: one Pebble, an ordered
// store of keys and values, holds the truth of all shards of a data folder, and
// segment files beside it hold what its documents are found by.
//
//	Engine ─┬─ folder    format version, lock; drop removes indices, and what is left of shards; excise gives back their space
//	        ├─ pebble    the store of keys and values (FORMAT.md: key, row, run, state, pack) over a
//	        │            seal of its files; a scheduler says when it compacts; tail compares how its log and
//	        │            manifest end (chunks) with what was noted to be synced (ends), before they are read
//	        ├─ files     segments, mapped (map), shared by counts of their users
//	        ├─ space     may be written? admit asks it; reopen opens the folder again after a failure
//	        ├─ rest      when nobody asks anything: writes out, and gives memory back
//	        ├─ stage     what open shards are to become: a state and a manifest for each incarnation,
//	        │            made of what each source shows (narrowed), and kept beside their own
//	        │            (staged, stagedmasks) until a placement names the term (takeup)
//	        └─ local     one shard ─┬─ load    what is stored of it; behind is what it indexes after it was opened
//	                                ├─ placed  the placement that is its own; gate: epoch, fence, permits
//	                                ├─ write   meet, decide, number (commit), apply: one mutex; then wait for the sync (mark)
//	                                ├─ refresh publishes a view: a snapshot of Pebble, by which get and scan read
//	                                ├─ changes the runs, for who follows; holds: from where on they are kept
//	                                ├─ prune   what no holder, reader or refresh can need
//	                                ├─ counts  what was estimated when it changed hands
//	                                └─ segments ─┬─ recent    what was written last, in memory until it is indexed
//	                                             ├─ harvest   changes and scans ──▶ new segments (makers), in memory
//	                                             ├─ edit      masks of what was replaced, deleted or is not owned
//	                                             ├─ stack     entries as of one number; each view has one
//	                                             ├─ advance   makes the next stack the shard's, and publishes it
//	                                             ├─ rewrite   several entries ──▶ one, in memory or in a file; tier: which
//	                                             ├─ shed      an entry of which another shard shows the rest ──▶ one without it
//	                                             ├─ persist   what is in memory alone ──▶ files, and a manifest of all
//	                                             │            (durable: what a shard knows of its own)
//	                                             ├─ heal      what is damaged ──▶ read again
//	                                             ├─ whole     what is shown and what there is: two counts, compared for each stack
//	                                             ├─ again     rows ──▶ a stack of them, beside the turn
//	                                             └─ keep      what is done behind the scenes, and when
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
//   - entry: a segment and what is hidden of it; a stack is the entries that together
//     show each document of a range once, as of a sequence number.
//   - manifest: the stored stack, as of the number that is committed.
//   - staged: the state and manifest that a shard will have under a term that no placement
//     names yet. It is taken up (put in the place of its own) by whoever opens the shard, or
//     has it open, once one does. See Engine.Stage.
//   - narrowed: which docs of a segment lie outside of a range. It is worked out before a
//     fence, and needed behind it.
//   - group: writes that are decided together, and one batch of Pebble. What segments
//     commit is something else: they write what is in memory alone to a file, and a
//     manifest, whose number is the committed one.
//   - turn: the right to make the next stack of a shard, beside its mutex.
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
//  6. Segments are never the truth: what they lack is made from rows and changes, which
//     are kept from the committed number on. Damage is told in the log and costs time.
//  7. What a manifest claims is worked out from the stack that it is made of, and never handed
//     over by what has written its files: it names all entries that are files, and its number
//     is below every document that is in memory alone. Where a document in memory alone is in
//     no change, since it was read as a row, no manifest is stored. What takes the place of
//     entries shows no more than they show at that moment, and is dropped where they show
//     more. So commits, merges, shedding and staging may overlap in any order.
//  8. A stack is made from the one before, and counts if that is still the last one; it is
//     published with a snapshot of the same number. Files outlive their last reader.
//  9. A range is narrowed in the manifest before another shard may write outside of it.
//  10. A stack shows as many documents as there are rows in its range, as of its number: those
//     are counted by writes, and each entry counts what it shows. Every stack is judged when it is
//     made, by a refresh, a merge, an opening, a hand-off: a sum over its entries, so that no
//     manifest is stored and nothing is staged of one that fails. Its readers say so
//     (shard.Reader.Lacks), and the shard reads the names of all of its rows, indexes those that no
//     entry shows, and hides what is no row. While the documents are an estimate, after a change
//     of ownership, nothing is judged; it is as soon as the rows have been counted.
//
// # Memory
//
// Options.Memory, M below, is what Pebble takes for cached blocks and the tables of recent
// writes, of which one has a quarter of M, 3 MB at most. Segments take beside it, while
// shards are written to:
//
//   - a quarter of M for what is in memory alone, of all shards together, and twice that
//     until each has written its own to a file;
//   - half of M for the segments in the making, of all shards together: as many at a time
//     as threads run, and one of them, 1 MB or more, is ended when it takes its part;
//   - a quarter for what was written last, of all shards together, until it is indexed
//     (recent): it need not be read again then, and unpacked;
//   - what a merge takes, of which there is one at a time: four bytes a doc and the terms
//     of one field.
//
// What is written is indexed after a quarter of M at the latest, so that a refresh has no
// more to do than that; a writer helps after four times as much. A mask takes a bit a doc,
// once for each of the views that are open and differ in it. Files are mapped: the system's
// cache holds as much of them as it has room for, and none of it is counted here. Some
// seconds after the last request the spare builders and most of the cache are given back.
//
// # Disk
//
// Sources of 512 bytes and more are packed one by one (zstd); Pebble compresses blocks of
// 4 KB of the others (snappy). Measured with 200,000 documents of 1 KB, ids, versions and
// changes included, and the CPU of a get for 8 clients: 0.72 bytes for a byte of source and
// 45 to 54 µs; 0.95 and 44 to 53 µs where snappy compresses all; 0.75 and 53 to 59 µs where
// Pebble's zstd does, whose decoder is made anew for every block, and 0.66 and 62 to 68 µs
// with blocks of 8 KB. A load takes 7 % more CPU than with snappy. Beside stand the segments
// (0.42), the ballast, and three or four logs, each as long as a table of recent writes,
// which are used again and not removed.
//
// # Merging
//
// Segments of about the same size become one: sixteen, or four where they are young (less than
// 65,536 docs). When nothing has been indexed for 30 seconds, two young ones are enough, if what the
// smaller ones show is at least an eighth of the largest and the disk has room: every search looks into
// each, and an index of many shards has many. Then, segments that hold documents of other shards are left
// to shedding.
//
// Absent on purpose: searching (package search), and a dictionary to pack sources with: it
// would save a tenth more, and take three times the CPU.
package embedded
