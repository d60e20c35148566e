// Package aggregate counts what a search finds: buckets of documents, metrics of their
// values, in any depth.
//
//	[]Aggregation (a tree) ──New──▶ Collector ──(search.Run: each document)──▶ Result ──▶ JSON
//
// # Terms
//
//   - bucket: a set of documents with a key. Each bucket has its own results of the
//     aggregations below it.
//   - bucket number: buckets of one aggregation are numbered over all the buckets around
//     it, so an aggregation keeps arrays, not trees.
//   - metric: one or more numbers of a bucket's documents.
//   - key: what a bucket is known by: a number or a term of a column, an interval, a name.
//
// # Invariants
//
//  1. Counts are exact: one process sees all shards, so there is no shard_size and
//     doc_count_error_upper_bound is 0. What is approximate on the server by nature
//     (percentiles, cardinality) says how here.
//  2. Buckets are bounded by search.max_buckets; going over it is the server's error.
//  3. Keys, formats, orders of buckets and of ties are the server's.
//
// Absent on purpose: JSON of requests (package query), finding documents (package search),
// pipeline aggregations and scripts.
package aggregate
