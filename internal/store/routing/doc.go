// Package routing computes where a document belongs: the hash of its routing
// value, its order key, and ranges of order keys.
//
//	order key = be32(murmur3(routing value, or the id)) ‖ be32(murmur3(id), seed 1)
//
//	0000000000000000 ├──── shard 0 ────┤├──── shard 2 ────┤├── shard 1 ──┤ ffffffffffffffff
//
// # Terms
//
//   - routing hash: murmur3 x86 32-bit, seed 0, over the UTF-16 little-endian
//     code units of the routing value, else of the id: the hash of Elasticsearch
//     and OpenSearch.
//   - order key: 64 bits, compared unsigned; see [Key]. Everything that a shard
//     stores is ordered by (order key, id).
//   - range: a contiguous interval of order keys, both ends inclusive; see [Range].
//   - place: the routing hash plus the shift that partitioned routing gives an id.
//
// # Invariants
//
//  1. One routing value is one high half of the key, unless its routing is
//     partitioned: then it is one of p places, spread evenly over the ring.
//  2. A key and a range have one text form of 16 hexadecimal digits a bound, and
//     parsing it gives the same value.
//  3. n equal ranges are computed as (uint32(hash)·n)>>32, so multiplying n nests
//     exactly.
//
// Absent on purpose: which shard owns a range (package placement).
package routing
