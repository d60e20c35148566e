// Package fields is what the types of fields mean in a segment: what is written for a
// value, and what a value in a query is compared with. Both are told here, type by
// type, so that they cannot differ.
//
//	source ──▶ mapping ──▶ Writer ──▶ terms, numbers, lengths ──▶ segment.Builder
//	query  ──▶ Schema.Field ──▶ Field.Exact, Field.Range ──▶ Match: terms or numbers of a segment
//	column ──▶ Field.Printer, Field.AppendTerm ──▶ JSON
//	source ──▶ mapping ──▶ Stored ──▶ JSON: what the server keeps beside the source
//
// # Terms
//
//   - schema: mapping and analyzers of one index; see [Schema].
//   - match: which terms, or which numbers, of a field a value of a query means; see
//     [Match].
//   - value: a scalar of a query, with the kind that it has in JSON; see [Value].
//
// # How types are kept
//
// The table is in kinds.go; a type's row names what is written for a value (put), and what
// a value and a range of a query mean (exact, within).
//
//   - text: terms with positions and lengths. Values follow each other with a gap of
//     positions; a length counts positions, as Lucene's norms do.
//   - keyword, wildcard, ip, boolean …: a term for each value.
//   - numbers are int64 whose order is that of the values: real numbers by their bits,
//     unsigned_long with the highest bit turned over, dates in milliseconds, scaled_float
//     times its factor.
//   - geo_point: a number of two halves; see [Point].
//   - ranges: a term for each, its two ends; [Match] tells which of the terms count.
//   - flat_object: three fields, of keys, of values, and of paths with values.
//   - constant_keyword: nothing: all docs have the value, told or not, as in the server.
//   - the parameters index and doc_values say whether a field has postings or points, and
//     a column. A field without the former is searched by its column: see [Match.Column].
//   - a doc has a field when it has a value of it that is kept somehow, as exists means it.
//   - _routing, _ignored and _seq_no are fields as any; _id and _nested_path come from the
//     builder; _index and _version are in no segment.
//
// Children of nested fields are completed before their document: while a mapping has
// nested fields, values wait in [Writer] for the doc that they belong to.
//
// # Invariants
//
//  1. A value that a document holds is met by Exact of the same value. (Not where the
//     server rounds the two differently: scaled_float beyond its decimals; and true is
//     not met by "".)
//  2. Numbers of one field are in the order of its values.
//  3. Errors are those of the server: testdata holds some 7,500 queries with the answers
//     of OpenSearch 2.19.0. Told better than there: ranges that end behind the last
//     number of a type, which the server lets overflow; and the empty text of a wildcard
//     field, which it does not find.
//  4. Writing a value of a field that was met before allocates nothing here.
//
// Absent on purpose: the tree of queries (package search), bytes (package segment).
// Absent, refused by name: columns of ranges and of paths below flat_object, and of
// constant_keyword. _doc_count of a document is not kept.
package fields
