// Package transfer is the record and the machine of one reshaping of one index: which
// shards hand which ranges to which, how far each of them has come, and who answers
// meanwhile. It is pure: a record and an event give the next record and what is to be done.
//
//	target   CLONE ──────hand-off──────▶ HANDOFF ──opened──▶ SPLIT ──shed──▶ DONE
//	           │                            │                  │
//	         abort                          └──── reverse ─────┤           all targets DONE
//	           ▼                                  (the way     │                 │
//	        dropped                                back is open)                 ▼
//	source   SOURCE ────────────────────────────────────── finish ────────────▶ DONE
//
// # Terms
//
//   - group: what is handed off in one step. Of a split: one source, which keeps its number
//     and the lowest part of its range, and new shards for the others. Of a merge: neighbours
//     as sources, and one target with the number of the lowest. Groups are independent.
//   - S: what the targets of a group were cloned at. H: what a source had done when it
//     handed off. Both are a [Position] for each source, in an incarnation of it.
//   - hand-off: the one compare-and-set that records HANDOFF and H, changes the map, and
//     raises the epochs and terms of all shards of the group: [Advance] with [WasHanded].
//   - run: comparisons of a group are counted; the newest is what counts.
//   - way back: from the hand-off to finish, [Reverse] makes of each group that was handed
//     off its opposite, which goes the same way from CLONE on; the others are dropped.
//
// The record stands in its index's placement ([Of], [Begin], [Clear]): there is no second
// truth about who owns what, and an index has one reshaping or none. Who answers and who
// filters in each state is a table: [Answers].
//
// # Invariants
//
//  1. Step is a function: the same record and event give the same record and effects.
//  2. A state goes one edge forward at a time, and never back; all targets of a group leave
//     CLONE in one step. A source is DONE only when all its targets are.
//  3. Nothing is handed off that was not compared in CLONE and found equal at or after S;
//     H is at or after that comparison. Nothing is finished that was not compared at H and
//     found equal.
//  4. Abort is possible until the first hand-off; Reverse from there to Finish; then nothing
//     leads back.
//  5. The map is changed by hand-offs alone: the ranges of a group before and after it are
//     the same keys, each once, and each key's new owner got it from its old one.
//  6. The number of a shard is given once: what is dropped, joined or led back leaves a gap.
//  7. After a hand-off every shard of its group has the placement's version as its epoch
//     and a term above all terms of the sources.
//  8. Events may come again, from any prefix of the journal, and change nothing: positions,
//     runs and states tell what is old. An event from an incarnation of before is refused.
//  9. Whoever comes to a record, whoever stored it, finds in [Record.Owed] what is to be
//     done: no effect is lost with the process that was to carry it out.
//
// Absent on purpose: the life of the movement as a whole (package movement: pausing, holding,
// its journal and who asked for what), storing, the fence and everything else that is done
// within a try to hand off, since a try that fails leaves nothing to be recorded, and ranges
// that change nodes, which come with the ring.
package transfer
