// Package placement is the versioned map of one index: order key to shard, shard
// to node. It decides; it stores and asks nothing.
//
//	version 4   0000…  ├ shard 0, epoch 1 ┤├ shard 2, epoch 4 ┤├ shard 1, epoch 1 ┤  ffff…
//
// # Terms
//
//   - placement: the whole map at one version; see [Placement].
//   - epoch: the version at which one shard's ownership last changed. Every request
//     to a shard quotes it, and a shard refuses a request with another.
//   - term: the primary term of a shard's incarnation, higher than all it came from.
//   - node: where a shard lives; "local" is the data folder itself.
//   - plan: what a split or a merge would make of some shards; see [Plan]. It is weighed
//     when it is known where the documents are; see [Weights].
//
// # Invariants
//
//  1. The ranges of the shards cover all order keys, without gap or overlap, in order.
//  2. A shard owns exactly one range. Shard numbers are never used again: Next only grows.
//  3. Every change raises Version, and stamps who, why and when; every shard whose
//     ownership it changes gets that version as its epoch.
//  4. The JSON form holds everything, and reading it gives the same placement; what
//     breaks invariant 1 or 2 is refused as damaged. The text form is for people alone.
//  5. The parts of a plan are the keys of its shards, each once. Planners cut between
//     routing values; inside of one only where a key says so.
//  6. Equal parts of equal ranges are equal ranges: a split by m of n equal shards
//     is what n·m shards would have begun as.
//
// Absent on purpose: reading and storing (package coord), carrying out a plan (package
// transfer), and the planner of rings, which comes with its lane.
package placement
