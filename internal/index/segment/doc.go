// Package segment is the format of our own index segments: immutable files that hold
// what documents can be found, sorted and counted by, and no sources.
//
//	Builder ──▶ bytes ──▶ Open ──▶ Segment ──▶ Field ──▶ terms, postings, columns, points
//	                                  │
//	several, with what is dropped ──▶ Merge ──▶ one
//
// # Terms
//
//   - doc: the number of a document in its segment, from 0, in the order of arrival.
//     Nested children have numbers of their own, before their document's, which is
//     their root.
//   - field: a name with terms, a column, points, lengths: what its [Spec] says.
//   - term: bytes; where a field has them, docs are found by them (postings), with how
//     often (frequency) and where (positions).
//   - column: the values of a doc, by doc: numbers, or ordinals, which are the ranks of
//     the field's terms.
//   - points: the numbers of a field in order, with their docs: for ranges.
//   - length: the number of positions of a field in a doc, rounded to a byte as Lucene
//     rounds it; the sums over all docs are exact.
//   - mask: which docs of a segment a shard does not show: deleted, replaced, or not its
//     own; see [View].
//
// # Invariants
//
//  1. A file is written once, and never changed. Reading one that is damaged gives
//     *Damaged and never a wrong value: each page has a checksum, which is compared
//     before its first use. Memory is bounded by the length of the file.
//  2. A version that is not known is refused; so is, as damage, a kind or an option that
//     the version does not have. No offset, length or count is trusted, even where the
//     checksums agree.
//  3. Docs are in the order in which they were added; merging keeps it. So sequence
//     numbers of one shard ascend.
//  4. Merge gives the same bytes as building a segment from only what the views show.
//  5. What a segment says of all its docs (frequencies, least and greatest values) is a
//     bound for a view of it, never an answer.
//
// The format is told in FORMAT.md.
//
// Absent on purpose: mappings and analysis (package fields), queries (package search),
// files and manifests (package shard/embedded).
package segment
