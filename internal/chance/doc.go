// Package chance makes the random choices of everything that works for movements: which
// piece a worker takes, how long it waits before it tries again.
//
//	code ── N(ctx, n), Float(ctx) ──▶ the source in ctx, or the machine's own
//
// # Terms
//
//   - source: what gives 64 random bits a call.
//
// # Invariants
//
//  1. Without a source in the context, choices come from the machine and cannot be foretold.
//  2. With one, nothing else decides: a simulation that gives the same bits gets the same run.
//
// Absent on purpose: identifiers and secrets, which come from crypto/rand.
package chance
