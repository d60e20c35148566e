// Package query reads the JSON dialect of searches into a search, and a search's
// answer has its types here.
//
// Of the dialect it knows so far match_all and ids, sorted by _id or _doc: enough
// for tools to dump and compare. Everything else is refused by name.
//
// # Invariants
//
//  1. What is not understood is refused, never left out.
//  2. Parsing bounds depth and size, and never panics.
//
// Absent on purpose: executing (package store, over readers), and HTTP.
package query
