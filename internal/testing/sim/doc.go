// Package sim lets whole movements happen within a simulated world, in processes that crash,
// sleep and wake, with a coordination store and all else outside failing in every way which
// scripts can say. Time is simulated too: hours take milliseconds. Of migrations the lane, workers,
// driver, machines, client of clusters and the bytes of a repository are real; of splits and merges
// the lane, workers, driver, machines and the whole store, whose engine is that of package
// shard/memory on a disk that fails, while clients work with the index.
//
//	script ─▶ world ── one event at a time, in an order that the seed decides
//	            │
//	process w1 ─┼─ migrate, worker, drive, work, movement: the real ones
//	process w2 ─┤        │ requests                  │ requests                    │ reads
//	   …        │        ▼                           ▼                             ▼
//	            │    records (coordination store)    target (HTTP, documents)      source (bucket)
//	            └─▶ after each event: the laws
//
// The same for an index that is reshaped, where one process at a time has the folder:
//
//	clients, operators ─▶ process w1 ── store, reshard, worker, drive: the real ones
//	                          │ requests                    │ what is to be durable
//	                          ▼                             ▼
//	                      records (coordination store)  disk (engine)
//
// # Terms
//
//   - script: the seed, the fleet, and what befalls it when, one line each; see [Script]. A
//     script is a whole run: the same one gives the same run.
//   - call: a request of a process. It is carried out at one instant and answered at a later
//     one; between the two a process may die, and an answer may be lost. What a process that
//     falls asleep has in its hands goes out when it wakes.
//   - scene: what a world is for: a migration, or an index that is reshaped.
//   - step: a change of a record, or, but for writes of clients, of the disk. A script can let a process crash right before or after
//     the nth.
//   - truth: what the snapshots hold, by position, and what is to become of it: the steps of
//     transformations are written here a second time.
//   - follower: a consumer of the changes of all shards of an index that is reshaped, by cursors that
//     it keeps now and then; see [Script].
//   - violation: a law that does not hold, with the instant.
//   - fleet: workers over a lane in which nothing is to be done, to measure how they claim; see [Fleet].
//
// # Invariants
//
//  1. Only the world carries calls out, one after the other, and only while nothing else is
//     at work: so a seed is a run. Each part of a process draws chances of its own, so that no two
//     wait for the same instant. One thing is beyond it: of the goroutines that one context
//     or one error ends, Go does not say which hears of it first. Seeds that stop processes of
//     several slots, or in which reading fails, may have two runs.
//  2. A dead process changes nothing any more but by calls that were on their way.
//  3. The world looks at records, documents and the truth, never at what a process believes.
//
// # Laws
//
// They are looked at after each change of a record, and at the end.
//
//   - L1: a movement that finished has brought each document with its content and version, or
//     somebody has accepted what is missing; an item that is done has its successor.
//   - L1, of others: no write of theirs on the target that was acknowledged is replaced or deleted by
//     a movement, except for a document that they made in the moment in which the movement created
//     it again, and which the server's answer reveals.
//     They do not make documents that the copy of a whole snapshot is about to bring: there versions decide.
//   - stragglers: what a delta has replaced has a version above that of the older snapshot, so that
//     a late write of that loses.
//   - L2: what was deleted in the source between two snapshots is not there after a delta,
//     whoever wakes and writes.
//   - L5: an aborted movement leaves the target as it was, also when documents of a process that slept
//     come later; an ended one leaves no records but its own, and no alias that it wrote through.
//   - L6: one holder changes a piece while its lease lasts; who holds none sends no documents; an
//     item is done at its end; an ended movement does not change.
//   - L8: a cursor never goes back, and passes nothing that the target has not taken and no
//     list of failures names; counts add up.
//   - L9: the report says of each index what the target lacks, has in another form, and has
//     besides, or why that was not to be known; what others touch from the beginning of the comparison on
//     may be in it as it was before or after.
//   - L11: nothing loops in silence: a fleet that is left alone, and an operator who answers,
//     come to the movement's end; who finds nothing to do does not ask on and on.
//   - L12: every record is understood; what cannot be read, or is refused, is listed until the
//     target has it, or until a delta has named that others deleted it.
//   - aliases: a template of the target gives one to each index that is made; no document comes to an index which it
//     shows before the movement makes its aliases, and when that has finished it shows each of them.
//   - limits: no more documents come than an operator allowed, and none outside of the hours.
//
// Of an index that is reshaped:
//
//   - L1: who reads a document in real time sees the newest write that anybody was told of or has
//     seen, or one that is on its way; at the end all documents are read.
//   - L2: so with deletions; numbers of a document's writes grow, over all hand-offs. Once somebody
//     was told that the index is gone, nobody finds it again.
//   - L3: a search shows each document at most once, and as it was at the last refresh or later,
//     never going back; its total is what it shows.
//   - L4: conditional writes are taken and refused as the document stands, also by routes of old
//     placements.
//   - L5: an abort leaves the rows of the placement as they were, a reversal their ranges; nothing
//     is left in the placement, the ledger, the records and, staged or forgotten, on the disk. Of an
//     index that was deleted nothing at all is left, and its movements end without an operator.
//   - L6: each version of the placement follows the one before, gives each key one owner, and gives
//     no epoch, term or number again; leases as above.
//   - L7: when nothing befalls anybody, no request and no fence takes longer than the budget allows.
//   - L8: a cursor of the follower moves forward only, over all hand-offs, and passes no write that
//     was acknowledged and not delivered.
//   - L10: the follower sees no document go back, gets what a change names or a later version, each
//     under one identity (document, term, number), and has at the end what there is.
//   - L11: every movement comes to its end, and one that is held says why.
//   - L12: no request ends as a bug of this program.
//
// # Long runs
//
//	SIM_SEED=1 SIM_SEEDS=10000 go test ./internal/testing/sim -run 'TestSeeds$' -timeout 3h -v
//	SIM_SEED=1 SIM_SEEDS=10000 go test ./internal/testing/sim -run 'TestShelves$' -timeout 3h -v
//
// let so many seeds happen (make sim does both), from the first on; a failure prints the smallest script that still
// breaks the law, and the end of its run (SIM_LOG lines of it), and belongs into testdata when it
// is mended. SIM_MUTANTS=1 go test ./internal/testing/sim -run Mutants plants known mistakes, and must meet each.
//
// TestTheMatrix is exhaustive at a small size: each step of a split, a merge, a reversal and an
// abort, killed before and after it, with the process or a slot asleep past its lease, with the disk
// full, and with the index deleted just then.
//
// The follower is built over what a shard offers, since the store has no way to follow an index yet. It
// shows that positions are enough for that: behind a hand-off one goes on behind the lowest of the
// cursors whose ranges a shard has now. A shard that went on under its number has all changes, those of
// what it has handed over too, and another one has those since the hand-off; where that is more than
// the cursor has seen the shard says so ([shard.Expired]), and is read as a whole.
//
// Partitions: one process has the folder, so that between it and the coordination store the store is
// away, unsure or busy (a part of the calls fails), and the process may be cut off for longer than its
// leases last and nobody takes over; between it and those who ask it the clients are cut off, which
// loses answers of what was done; a slot that is cut off alone is one that stalls, or whose calls
// happen to be those that fail. Of a migration the store may be away from one worker alone (cut-off).
//
// Absent on purpose: the files of the engine (package proof kills the real binary),
// reading repositories over a network (package blob has its own tests), other
// lanes, and a model of how long work takes on real machines. Not simulated yet: data streams,
// taking the snapshot, and a coordination store that is an index of the target (it fails as the
// contract of coord says, and not by HTTP). A document that comes back out of the hands of a process
// that slept, while its movement lasts, after the target has forgotten its deletion and after the
// comparison, is beyond what a movement can see, and breaks no law here.
package sim
