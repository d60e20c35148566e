// Package reconcile finds out in what two sets of documents differ, in memory that does not
// grow with them. It is pure: callers read the two sides, in any order and in any number of
// parts, and hand over what they have read.
//
//	first pass    expected ──▶ Table ┐
//	                                 ├─▶ unequal buckets ─▶ groups of buckets
//	              found ─────▶ Table ┘
//	second pass   expected, found ──filter of a group──▶ Collector ──▶ Report    (group by group)
//
// # Terms
//
//   - bucket: the documents whose keys begin with the same bits. Of each a table holds how
//     many there are and the sum of their contents' fingerprints, as numbers of 128 bits.
//   - suspect: a bucket that is looked at although its numbers may be equal, because
//     something is known to be wrong in it.
//   - group: neighbouring buckets, of which the unequal ones hold about as many documents as
//     the second pass may keep in memory.
//   - classes of difference: see [Class].
//
// # Invariants
//
//  1. Sides that hold the same documents have equal tables, in whatever order, by whatever
//     number of workers they were read: tables add up.
//  2. A bucket whose documents differ is unequal, but for one chance in 2^128; the second
//     pass compares documents one by one, so a class is never a guess.
//  3. A table takes at most 16 MiB; a collector holds at most as many documents as it was
//     told, and refuses more with fault.Limit.
//  4. Every identity of a group is in at most one class per copy, and equal ones are in none.
//  5. The state of a run comes back from its binary form as it was; a damaged form is
//     fault.Corrupt.
//
// What changes on a side between the passes is compared as the second pass finds it, and what
// changes in a bucket that was equal goes unnoticed: the first pass is of the positions that
// the caller reads at.
//
// Absent on purpose: reading, and repairing.
package reconcile
