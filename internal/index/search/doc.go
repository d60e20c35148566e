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
//   - blend: terms that count as equally rare; see blend.go.
//   - source: the views of one shard at one sequence number; see [Source].
//   - statistics: how many documents an index has, and how often each term of the query
//     is in them: sums over the distinct segments of all its shards, masked docs counted
//     until they are merged away.
//   - candidate: a term that a view shows and an automaton accepts (package automaton): where terms become clauses
//     of their own, they are found in the views before the search.
//   - score: BM25 with k1 1.2 and b 0.75, as Lucene computes it, in float32, times k1 + 1 as
//     OpenSearch 2 has it.
//   - node: a plan in one segment: it steps through docs, ascending, hidden ones too, checks
//     those that may be found, and scores those that are; see node.go. A reader makes them.
//   - bound: a score that no doc of a block exceeds. While enough hits are counted, what is
//     bounded below the worst of the best hits is left out.
//   - window: 2048 docs that are found and scored together; see window.go.
//   - rank: a number that orders docs of one view as the values of a key do; see order.go.
//
// # How a plan is run
//
//	plan ──simplify──▶ plan ──reader, per view──▶ node ──▶ sink ──▶ collectors, ranking (best scores, or an order)
//	                                               │
//	      one term: block by block; sums of terms, filters: window by window; all else: doc by doc
//
// Numbers and terms that filter are looked up as a set, or checked in the column for the docs
// that the parts around them find, whichever costs less. Hidden docs are taken out by words
// of bits where that can be. Pages of all documents by key, and the first page of a search
// for everything, are read from spans of keys that are laid out once: see laid.go.
//
// The views of a search without collectors, and the segments in which the terms of any search
// are looked up, are shared among goroutines while other processors have no search to do: see
// parallel.go. Each keeps hits of its own, and these are joined.
//
// # Invariants
//
//  1. The best hits are exact: skipping by block maxima leaves out nothing that belongs
//     among them.
//  2. Ties are broken by (index number, order key, id) everywhere.
//  3. What is not supported is an error that names it. Errors have the server's type and
//     reason.
//  4. What is found does not depend on how many goroutines share the views.
//  5. A view hides what it hides from every query, count and statistic of terms that
//     is shown; scores alone know of masked docs.
//
// Absent on purpose: JSON (package query), aggregations (package aggregate), sources of
// documents, HTTP.
package search
