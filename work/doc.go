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
//     may be repeated by anyone: name it in the old item, create it, complete the old item.
//     (The name, which is computed, is the first.)
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
//
// Absent on purpose: storing (the caller compares and sets the record that it read), waiting,
// and what the work is.
package work
