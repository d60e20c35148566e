// Package work decides who does which piece of a movement, for how long, and from where.
// It is pure: a piece and an event give the next piece, or an error that says why not.
//
//	           Claim                    Heartbeat (cursor)
//	waiting ──────────▶ leased ──────────────────────────┐
//	   ▲  ▲               │ ▲                            │
//	   │  └── Release ────┤ └────────────────────────────┘
//	   │                  │
//	   └── lease expired, │ Name successor ─▶ Create it ─▶ Complete      (a lease that is nearly over)
//	       or three       │
//	       heartbeats     ├── Complete ──▶ done
//	       missed         └── Fail, or too many claims without progress ──▶ failed
//
// # Terms
//
//   - lease: the right of one holder to work on a piece until its expiration. A heartbeat
//     stores the cursor; it never extends the lease.
//   - exponent: leases last Initial·2^exponent; each claim raises it, and a successor starts
//     with one that suits the time which setting up took.
//   - attempt: a claim since the cursor last moved. Too many of them: the piece is poison.
//   - item: a piece with a range of positions in a shard of a snapshot, and its cursor:
//     everything before it is acknowledged by the target.
//   - successor: the item that goes on where a lease ended, made in four steps each of which
//     may be repeated by anyone: compute its name, store the name in the old item, create
//     it, complete the old item; see [Item.Successor].
//   - tracker: turns answers that come in any order into the cursor; see [Tracker].
//   - bucket: the items of a movement whose names hash alike; a worker looks for work in one
//     at random instead of listing all.
//   - now: the time of the coordination store. Package work never looks at a clock.
//
// # Invariants
//
//  1. At every time a piece has at most one holder whose lease has not ended, and only the
//     holder changes it.
//  2. A cursor lies in its item's range and never goes back.
//  3. What is done or failed stays so; only Again makes a failed piece waiting.
//  4. A piece that names a successor is never worked on again: who claims it finishes the
//     steps of its successor.
//  5. Exponents and attempts are bounded: no duration overflows.
//  6. Items cover each position of a shard exactly once: an item answers for its range, or up
//     to its cursor once its successor has been created, and is done only when it has come
//     to its end or names a successor.
//  7. The cursor is a position of the shard, and passes nothing that has no answer for good.
//  8. A record of a newer schema is refused, never guessed at.
//
// Absent on purpose: storing (the caller compares and sets the record that it read), waiting,
// and what the work is.
package work
