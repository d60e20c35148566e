// Package movement is the life of a movement: copy · follow · verify · switch · retire, for
// every lane. It is pure: a record and an event give the next record and what is to be done.
//
//	planned ─start─▶ running ─▶ switched ─finish─▶ finished
//	                 │  ▲   │      └──reverse──▶ reversing ─▶ reversed
//	           pause │  │   └─ abort ─▶ aborting ─▶ aborted
//	                 ▼  │ resume
//	               paused, held (stopped by itself, with a cause), failed (a phase gave up)
//
// # Terms
//
//   - phase: a named part of a lane's work, in the order of the plan. At most one is
//     current; any worker may do it, or parts of it, under leases of package work. verify,
//     repair and redrive can be asked for again: each run is a phase of its own, told apart
//     by its key ([Phase.Key]), which happenings quote.
//   - verb: what an operator asks for. Which verb a state allows is a table: [Record.Ask] looks into it.
//   - hold: a movement that stopped itself with a stated cause and needs an operator.
//   - listed: a hold whose cause is a list of differences or failures, all else being done.
//     Finish accepts it, and the movement goes on; any other cause has to be mended.
//   - point of no return: the first phase with Flips that has begun. Until then abort undoes
//     everything; after it only reverse leads back. Nothing does once a phase that retires
//     has begun, or the ledger is being settled.
//   - settling: after the last phase, while the ledger is handed over or undone; finished
//     when it is empty.
//   - ledger: one entry for everything that the movement makes: written before it is made,
//     taken away when it has been undone or, at finish, handed over to whoever keeps it.
//   - journal: the events that were applied, with who and when; the record is their result.
//
// # Invariants
//
//  1. Step is a function: the same record and event give the same record and effects.
//  2. An event that was applied is not applied again: a repeated happening changes nothing,
//     or is fault.Conflict because it comes too late.
//  3. finished, aborted and reversed have no way out, and are reached only when the ledger
//     is empty.
//  4. A phase ends once; phases end in the order of the plan.
//  5. After the point of no return no state leads to aborting, unless whoever asks has seen that
//     nothing was switched.
//  6. Each cell of the table says yes, nothing to do, or why not and what to do instead.
//  7. A record is bounded: the journal keeps its first and its newest events and counts all,
//     texts are cut, and of the runs of a phase that was asked for again the newest are kept.
//  8. A plan is what it was at the start, but for what the end of a phase adds to it: a snapshot
//     that is still to be taken cannot be planned for. A repeated end changes it no more.
//  9. A driver that comes to a record, whoever stored it, finds in [Record.Owed] what is to
//     be done: no effect is lost with the process that was to carry it out.
//
// Migrations have no phase that flips or retires: switch and reverse are refused to them. Splits
// and merges have both. A comparison has no phase but verify, until a repair is asked for.
//
// Absent on purpose: what phases do (lanes), leases (work), and storing (drive).
package movement
