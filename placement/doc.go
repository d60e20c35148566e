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
//
// # Invariants
//
//  1. The ranges of the shards cover all order keys, without gap or overlap, in order.
//  2. A shard owns exactly one range. Shard numbers are never used again: Next only grows.
//  3. Every change raises Version, and stamps who, why and when; every shard whose
//     ownership it changes gets that version as its epoch.
//  4. The text form and the JSON form hold everything, and reading them gives the
//     same placement; what breaks invariant 1 or 2 is refused as damaged.
//
// Absent on purpose: reading and storing (package coord), and the planners of
// splits, merges and rings, which come with their lanes.
package placement
