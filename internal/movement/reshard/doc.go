// Package reshard is the lane that changes who owns what of an index while it is served:
// split, merge, and the way back. Package worker gives it turns; it works in the process
// that serves the store.
//
//	plan ─▶ clone ──────────▶ switch ──────────▶ verify ─────▶ retire ─▶ settled
//	        stage beside      fence, stage at    truth and     shed what is
//	        the sources,      H, one compare-    what is shown not owned
//	        compare           and-set, release   at H
//	            │                                   │
//	          abort                              reverse: the same way back
//
//	lane: turns of a worker ─▶ deeds: what is owed ─┬─▶ clone ─▶ partition: compared in CLONE
//	  │                                             ├─▶ handoff ─▶ pin: what stays for the comparison
//	  │                                             ├─▶ verify ─▶ compare: two sides, document by document
//	  │                                             └─▶ shed ─▶ watch: how long searches take ─▶ pace
//	  └─▶ end: settled, aborted, reversed; the index deleted
//
// # Terms
//
//   - reshaping: the record of package transfer, which stands in the index's placement. It
//     says how far each group is; what it owes is done here. See [transfer.Record.Owed].
//   - group, CLONE, HANDOFF, H, hand-off: see package transfer. staged: see package shard.
//   - budget: how long requests may wait behind the fence of one hand-off. Behind it are, in this order: draining (what
//     is being written is synced), staging (the last changes, and what the shards become), the turn and the
//     compare-and-set of the placement, opening (what was staged is taken up, the fences are released). Before it are
//     the refresh of the sources and the rehearsals; after it the comparison at H. Opening comes when nothing can be given
//     up any more: what it took in the rehearsals is kept of the budget for it.
//   - pinned: the readers at H that a hand-off leaves, for the comparison.
//   - at rest: a movement that owes nothing and has not ended; it is paused, held, has failed or
//     keeps its way back. See [Lane.Mind]. The rests of shedding are something else: see pace.
//   - shared: bytes of segments of which a shard shows a part, and another one the rest.
//   - rehearsal: a hand-off without fence and change, for the prediction of its pause.
//   - pace: for how long shedding, or comparing, rests for what it works; searches that have
//     become slower make it rest longer, and while there are none it does not rest.
//
// # Invariants
//
//  1. Nothing is done that the reshaping does not owe, and each deed may be done again: its
//     end is an event of package transfer, stored in the placement.
//  2. The hand-off of a group is one compare-and-set, within the budget; one that takes
//     longer has changed nothing, and is tried again later, some times. Then the movement
//     holds, and says how long the pause would have to be. One whose rehearsals took longer
//     is not tried while nothing was handed off.
//  3. A difference in CLONE keeps the group from its hand-off; one at H keeps the movement
//     from being finished.
//  4. What the movement made stands in its ledger as one entry: the reshaping of the index.
//  5. An index that is deleted ends its reshaping: nothing is left to be done or undone.
//  6. A movement at rest pins nothing.
//
// # Keys
//
// Below movement/ID/, beside the ledger (package movement):
//
//	phase/PHASE      the piece of a phase: one slot does it for all groups
//	clone/GROUP      what the comparison in CLONE has found
//	predicted/GROUP  how long the hand-off would keep requests waiting
//	pause/GROUP      how long it has
//	verify/GROUP     what the comparison at H has found
//	shared/SHARD     how many bytes of a shard are still shared
//	back/…           the same of the way back
//
// Absent on purpose: which shards become which (package placement plans it), the states
// (package transfer), fences and rows (packages store and shard), and shards that change
// nodes, which come with the ring.
package reshard
