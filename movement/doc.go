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
//     current; any worker may do it, or parts of it, under leases of package work.
//   - verb: what an operator asks for. Which verb a state allows is a table: [Table].
//   - hold: a movement that stopped itself with a stated cause and needs an operator.
//   - point of no return: the first phase with Flips that has begun. Until then abort undoes
//     everything; after it only reverse leads back, until finish.
//   - ledger: one entry for everything that the movement makes: written before it is made,
//     taken away when it has been undone or, at finish, handed over to whoever keeps it.
//   - journal: the events that were applied, with who and when; the record is their result.
//
// # Invariants
//
//  1. Step is a function: the same record and event give the same record and effects.
//  2. An event that was applied is not applied again: a repeated happening changes nothing.
//  3. finished, aborted and reversed have no way out, and are reached only when the ledger
//     is empty.
//  4. A phase ends once; phases end in the order of the plan.
//  5. After the point of no return no state leads to aborting.
//  6. Each cell of the table says yes, nothing to do, or why not and what to do instead.
//
// Absent on purpose: what phases do (lanes), leases (work), and storing (drive).
package movement
