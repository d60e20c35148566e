// Package query reads the JSON dialect of searches into a search, and has the types
// of a search's answer.
//
//	body ──▶ Parse ──▶ Search{query, order, page, what is wanted} ──▶ (package store) ──▶ Answer{hits, total}
//	                                  └── SourceFilter.Append ──▶ what is left of a source
//
// Of the dialect it knows so far match_all and ids, sorted by _id or _doc: enough
// for tools to dump and compare. Everything else is refused by name.
//
// # Terms
//
//   - hit: a document that a search found, with the values that it was sorted by.
//   - sort value: where a page ends; the next one begins behind it (search_after).
//   - source filter: includes and excludes, patterns of paths, that choose parts of
//     a source.
//
// # Invariants
//
//  1. What is not understood is refused, never left out.
//  2. Parsing bounds depth and size, and never panics.
//  3. What a filter leaves of a source has the values as they were written.
//
// Absent on purpose: executing (package store, over readers), and HTTP.
package query
