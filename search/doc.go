// Package search finds, scores and sorts documents in segments.
//
//	Query (a tree, of one index or many) ──compile with a Schema──▶ plan ──▶ per segment: iterators and scorers
//	                                                                              │
//	sources: the views of each shard ──▶ Run ──▶ statistics of each index, then ──┤──▶ top hits, total
//	                                                                              └──▶ Collectors (package aggregate)
//
// # Terms
//
//   - tree: what is asked, as clients write it: names of fields and texts; see [Query].
//   - plan: the tree with the fields of one index worked out: terms and numbers.
//   - source: the views of one shard at one sequence number; see [Source].
//   - statistics: how many documents an index has, and how often each term of the query
//     is in them: sums over the distinct segments of all its shards, masked docs counted
//     until they are merged away.
//   - score: BM25 with k1 1.2 and b 0.75, as Lucene computes it, in float32.
//
// # Invariants
//
//  1. The best hits are exact: skipping by block maxima leaves out nothing that belongs
//     among them.
//  2. Ties are broken by (index number, order key, id) everywhere.
//  3. What is not supported is an error that names it. Errors have the server's type and
//     reason.
//  4. A view hides what it hides from every query, count and statistic of terms that
//     is shown; scores alone know of masked docs.
//
// Absent on purpose: JSON (package query), aggregations (package aggregate), sources of
// documents, HTTP.
package search
