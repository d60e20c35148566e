// Package worker does the work of movements: any number of processes on any number of
// machines, which know of each other only by the records in the coordination store.
//
//	each slot: a running movement ─▶ its current phase ─▶ the lane claims one piece and does it
//	             ▲                                            │
//	             └── a pause of random length when there was none; the phase's end is an event
//
// # Terms
//
//   - slot: one piece of work at a time; each slot is a worker of its own, with its own name.
//   - lane: what knows how to do the phases of a kind of movement.
//   - turn: one try of a slot to do something for a movement.
//
// # Invariants
//
//  1. A slot holds at most one lease.
//  2. No slot needs another: there is no leader, and whoever comes goes on from the records.
//  3. Being told to stop, a slot stores how far it has come and gives its lease back.
//  4. What lies with one worker (a credential or a mount that it lacks, its clock) holds no movement: it
//     says so, in a record that the movement's progress shows, and leaves the work to others. See [Unable]
//     and [Inability].
//  5. What an event says about a movement is applied once, whoever tells it how often.
//
// Absent on purpose: leases and retries (drive), decisions (movement, work).
package worker
