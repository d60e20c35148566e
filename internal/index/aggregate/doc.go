// Package aggregate counts what a search finds: buckets of documents, metrics of their
// values, in any depth.
//
//	[]Aggregation (a tree) ──New──▶ Collector ──Prepare──▶ fields of all indices
//	                                    │
//	search.Run ── blocks of docs ──▶ workers ── (doc, bucket) ──▶ workers below ──▶ …
//	                                    │
//	                                    └──AppendJSON──▶ results, as the server prints them
//
// # Terms
//
//   - bucket: a set of documents with a key. Each bucket has its own results of the
//     aggregations below it.
//   - bucket number: buckets of one aggregation are numbered over all the buckets around
//     it, so an aggregation keeps arrays, not trees.
//   - metric: one or more numbers of a bucket's documents.
//   - key: what a bucket is known by: a number or a term of a column, an interval, a name.
//   - worker: an aggregation at work; see [worker]. Docs come to it in batches, each doc
//     as often as it is in buckets around.
//   - class: how values are compared and told: terms, whole numbers, real numbers,
//     unsigned ones. Dates are milliseconds, true is 1.
//
// # How values are read
//
// Columns are read in blocks (reading.go). Ordinals are those of a view: a term is looked
// at once a view, and gets a number of its own (terms_texts.go); where nothing is below,
// docs are counted by ordinal and the views' dictionaries are joined at last
// (tallies.go); and where all docs of a view are found, its dictionary says how many have
// a term. Where an index has several views, a lexicon numbers the terms of all of them, and
// is kept for the searches that follow: their counts are added by number, however many
// segments there are (lexicon.go). Intervals of time that were found are remembered (rounding.go).
//
// # Invariants
//
//  1. Counts are exact: one process sees all shards, so there is no shard_size and
//     doc_count_error_upper_bound is 0, also where the server says -1 because it does
//     not know. sum_other_doc_count is what a server with one shard says: shard_size
//     counts for it.
//  2. What is approximate on the server by nature: percentiles are exact up to twice the
//     compression, and beyond within what a t-digest promises (digest.go); cardinality is
//     exact up to 3,072 values at the default threshold, and at any threshold up to it, and
//     beyond has the server's standard error with another estimate (distinct.go).
//  3. Told buckets are bounded by search.max_buckets; going over it is the server's error,
//     before gaps are filled. Buckets that are not told take the memory of what exists:
//     different terms, combinations of keys, intervals with documents. That is bounded
//     while documents are collected: over the limit, nearly, the search is refused.
//  4. Keys, formats, orders of buckets and of ties are the server's; so is the order of
//     names, which come out of its hash maps.
//  5. A masked view counts as a segment of what it shows: terms with min_doc_count 0 are
//     those of documents that are shown.
//
// testdata holds what OpenSearch 2.19.0 answered to more than a thousand requests, which tests
// replay over one segment, over many, and over masked ones; laws_test.go compares random
// aggregations with the simplest way to compute them.
//
// Known to differ: terms of constant_keyword are its value, where the server tells the name
// of the index; a nested query in a filter whose path is that of the nested aggregation around
// it finds nothing, where the server joins each object to the next; sub-fields of flat_object are refused, of which the server tells nothing or
// the name of a Java object; a shard that fails fails its whole index, where the
// server answers with what the index's other shards have. Sums over several shards may differ from the server's in the last digit: it adds shard
// by shard, we doc by doc. Buckets in the gaps of histograms count for search.max_buckets in each
// gap, on the server once; composite looks into all its buckets, the server into those of the page:
// what is wrong with the documents of others fails the search here. Hits of top_hits that are nested objects have no inner_hits: the
// server looks for them among the objects that stand before one.
//
// Absent on purpose: JSON of requests (package query), finding documents (package search),
// pipeline aggregations, scripts, significant_terms and the like, HDR histograms, ranges
// (integer_range …) as values of histograms: they are refused by name. geo_bounds, which a
// server without its geo module lacks too.
package aggregate
