// Package reconcile finds out in what two sets of documents differ, in memory that does not
// grow with them. It is pure: callers read the two sides, in any order and in any number of
// parts, and hand over what they have read.
//
//	first pass    expected ──▶ Table ┐
//	                                 ├─▶ unequal buckets
//	              found ─────▶ Table ┘        │
//	                  ▲                       ├─▶ too many documents, few buckets: again, in finer ones
//	                  └───────────────────────┤
//	a look        expected, found, before ──▶ items ──▶ Report    (of as many buckets as it may hold)
//	                                          └─▶ the rest is told as such
//
// # Terms
//
//   - bucket: the documents whose keys begin with the same bits. Of each a table holds how
//     many there are and the sum of their contents' fingerprints, as numbers of 128 bits.
//   - suspect: a document that cannot be read; its bucket is looked at whatever its numbers say.
//   - run: a comparison on its way, pass by pass: see [Run]. Callers read the sides that it asks
//     for in parts, and hand each over when they know up to where it was read.
//   - look: a pass that compares documents one by one.
//   - before: a third side, of what was found once held. What is found, stands there and is not
//     expected is known to have been deleted.
//   - rest: buckets that are unequal and were not looked at.
//   - group: neighbouring buckets of two tables, for who compares on his own; see [Groups].
//   - classes of difference: see [Class].
//
// # Invariants
//
//  1. Sides that hold the same documents have equal tables, in whatever order, by whatever
//     number of workers they were read: tables add up.
//  2. A bucket whose documents differ is unequal, but for one chance in 2^128. A look tells
//     documents apart by 64 bits of their identity, and contents by 64 bits.
//  3. A table takes at most 3.5 MiB, and a look some 110 bytes for each document that it may
//     hold; one that finds more, since a side has grown, is fault.Limit.
//  4. The sides are read a number of times that does not grow with them: once, at most three
//     times more in finer buckets, and once for each look.
//  5. Every document of the buckets that were looked at is in one class, each further copy of it
//     misplaced, and equal ones are in none. What was not looked at is counted as rest, and a run
//     without a rest has missed nothing.
//  6. A run comes back from its binary form as it was, and is at most 7 MiB long with looks at
//     250,000 documents; a damaged form is fault.Corrupt.
//
// What changes on a side between the passes is compared as the later pass finds it, and what
// changes in a bucket that was equal goes unnoticed: callers read one instant of a side, or
// begin again (see [Run.Again]).
//
// Absent on purpose: reading, and repairing.
package reconcile
