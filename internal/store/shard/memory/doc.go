// Package memory is a shard engine that keeps everything in memory and is exact
// rather than fast: the store's tests run on it, and other engines are compared
// with it.
//
//	Engine ── Shard ─┬─ gate   who is admitted: epoch, fence, closed     (the shell: one mutex)
//	                 └─ truth  rows, changes, holds, what may be pruned  (the core: no lock, no clock)
//	                      └─ tree  rows by (order key, id), never changed in place
//
// # Terms
//
//   - truth: the pure core; the same calls in the same order give the same state.
//   - tree: a persistent treap; a reader is the root that it had.
//   - gate: what a request passes before it touches the truth.
//   - staged: the truth of an incarnation, made of the rows of others; it waits for its term.
//
// # Invariants
//
//  1. What is applied is durable, at one instant, of which [Options.Durable] decides; an
//     engine that is [Engine.Reopened] has what was applied by then. Shards that are closed
//     and opened again in one engine have all their rows.
//  2. The truth is touched with the shard's mutex held, and a group of a write (at
//     most 1 MB) is applied under one hold of it, and written under one permit.
//  3. Nodes of a tree are never changed, so readers need no lock.
//  4. The segment of a reader is made of its rows alone, when it is first asked for.
//  5. Nothing blocks while the mutex is held; placements are read outside it, and an
//     older one never replaces a newer.
//  6. Each shard has its own rows: what one writes after a change of ownership was staged,
//     another does not have.
//
// Absent on purpose: durability, limits of memory, and refreshes by a timer.
package memory
