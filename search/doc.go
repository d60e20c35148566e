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
//   - plan: the tree with the fields of one index worked out: terms and numbers. It is what
//     the server's queries are after they were rewritten; testdata/compile has both.
//   - acceptor: an automaton over the bytes of terms: of wildcards, regular expressions and
//     words that are like another (automaton*.go). It is built as a whole, and how much work
//     that takes is bounded as in Lucene.
//   - blend: terms that count as equally rare; see blend.go.
//   - source: the views of one shard at one sequence number; see [Source].
//   - statistics: how many documents an index has, and how often each term of the query
//     is in them: sums over the distinct segments of all its shards, masked docs counted
//     until they are merged away.
//   - candidate: a term that a view shows and an acceptor accepts: where terms become clauses
//     of their own, they are found in the views before the search.
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
