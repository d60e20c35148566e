// Package sim lets whole migrations happen within a simulated world: the real lane, workers,
// driver, machines and client of clusters, and the bytes of a real snapshot, in processes that
// crash, sleep and wake, with a coordination store and a target that fail in every way which
// scripts can say. Time is simulated too: hours take milliseconds.
//
//	script ─▶ world ── one event at a time, in an order that the seed decides
//	            │
//	process w1 ─┼─ migrate, worker, drive, work, movement: the real ones
//	process w2 ─┤        │ requests                  │ requests
//	   …        │        ▼                           ▼
//	            │    records (coordination store)    target (HTTP, documents with versions)
//	            └─▶ after each event: the laws
//
// # Terms
//
//   - script: the seed, the fleet, and what befalls it when, one line each; see [Script]. A
//     script is a whole run: the same one gives the same run.
//   - call: a request of a process. It is carried out at one instant and answered at a later
//     one; between the two a process may die, and an answer may be lost.
//   - step: a change of a record. A script can let a process crash right before or after
//     the nth.
//   - truth: what the snapshot holds, by position.
//   - violation: a law that does not hold, with the instant.
//
// # Invariants
//
//  1. Only the world carries calls out, one after the other, and only while nothing else is
//     at work: so a seed is a run.
//  2. A dead process changes nothing any more but by calls that were on their way.
//  3. The world looks at records, documents and the truth, never at what a process believes.
//
// # Laws
//
// They are looked at after each change of a record, and at the end.
//
//   - L1: a movement that finished has brought each document with its content and version, or
//     somebody has accepted what is missing; an item that is done has its successor.
//   - L5: an aborted movement leaves the target as it was; an ended one leaves no records but its own.
//   - L6: one holder changes a piece while its lease lasts; an item is done at its end; an ended
//     movement does not change.
//   - L8: a cursor never goes back, and passes nothing that the target has not taken; counts add up.
//   - L9: the report says of each index what the target lacks and has besides.
//   - L11: nothing loops in silence: a fleet that is left alone, and an operator who answers,
//     come to the movement's end.
//   - L12: every record is understood.
//
// Absent on purpose: reading repositories over a network (package blob has its own tests), other
// lanes, and a model of how long work takes on real machines. Not simulated yet: deltas, data
// streams, redrives, transformations, limits, and taking the snapshot.
package sim
