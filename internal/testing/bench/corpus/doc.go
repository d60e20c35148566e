// Package corpus makes the documents that the benchmarks load: 13 fields and about
// 1 KB each, the same from run to run.
//
//	number ──▶ Source ──▶ Bulk
//	             ▲
//	          Word: rank ──▶ a word of the vocabulary
//
// Terms: a word's rank is its place by frequency, 0 for the commonest.
//
// Invariants:
//
//  1. A document follows from its number alone, a word from its rank alone.
//  2. Words are drawn by the law of Zipf and Mandelbrot: that of rank r is 1/(r+2.7)
//     as likely as they come, which is about what texts of people show. A document
//     has a hundred of them.
//
// Absent on purpose: anything that needs a file.
package corpus
