// Package fields is what the types of fields mean in a segment: what is written for a
// value, and what a value in a query is compared with. Both are told here, type by
// type, so that they cannot differ.
//
//	source ──▶ mapping ──▶ Writer ──▶ terms, numbers, lengths ──▶ segment.Builder
//	query  ──▶ Schema.Field ──▶ Field.Exact, Field.Range ──▶ Match: terms or numbers of a segment
//	column ──▶ Field.AppendNumber, Field.AppendTerm ──▶ JSON
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
//   - text: terms with positions and lengths; keyword, ip, boolean …: as the table in
//     kinds.go says.
//   - numbers are int64 whose order is that of the values: real numbers by their bits,
//     unsigned_long with the highest bit turned over, dates in milliseconds.
//   - a doc has a field when it has a value of it, as exists means it.
//
// # Invariants
//
//  1. A value that a document holds is met by Exact of the same value.
//  2. Numbers of one field are in the order of its values.
//  3. Errors are those of the server.
//
// Absent on purpose: the tree of queries (package search), bytes (package segment).
package fields
