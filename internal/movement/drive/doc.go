// Package drive runs the machines of packages movement and work: it loads a record from the
// coordination store, lets the pure machine step, compares and sets, and tells what is to be
// done. What every lane needs while it acts lies here once: leases with their watchdog,
// heartbeats, retries by the kind of error, the store's clock, the ledger.
//
//	load record ─▶ step (pure) ─▶ compare and set ─▶ act ─▶ next event
//	      ▲              conflict: load again │
//	      └───────────────────────────────────┘
//
// # Terms
//
//   - piece: a record with a lease: a phase, an index or an item of work.
//   - held piece: a piece whose lease this process holds. Its context ends when the lease
//     does, so nothing goes on that works with it.
//   - keys: movements/ID is a movement; under movement/ID/ lie its pieces (phase/…, index/…,
//     item/…), its ledger, and what lanes keep, so that a list of movements meets none of
//     it, and one prefix is removed when it ends. closing/ID is the piece by which one
//     worker at a time does that: it cannot lie under what it removes.
//
// # Invariants
//
//  1. Of movements and of leases nothing is stored that a pure machine did not decide upon the
//     record that is replaced. What else a record says is the lane's.
//  2. A write whose outcome is unknown is settled by reading: when the record is what was to
//     be written, it was written.
//  3. A held piece's context ends before others may take its lease: at the deadline of the last
//     heartbeat that was stored, and before the lease's end, by the clock of this machine's own
//     running, whatever the wall clock shows. Requests that it sent by then may arrive later; see
//     [work.Lease.Quiet].
//  4. A ledger entry is stored before the thing that it names is made, and removed after the
//     thing has been undone.
//  5. Time in records is the store's; a machine whose clock is off by more than the tolerance
//     claims nothing. Where the store's clock was set back, leases go on, what was taken before is
//     left to its holder until the clock has caught up, and no attempt is spent on a lease that
//     would end at birth. Where that clock leaps ahead, leases end early, and who holds one hears of it
//     at the next heartbeat: until then two may be at work.
//
// Absent on purpose: what phases do (the lanes), and choosing which piece to claim (worker).
package drive
