// Package query reads the JSON dialect of searches and of what goes with them into the
// trees of package search, and shows sources and fields of what was found.
//
//	body ──▶ ReadSearch ──▶ Search{tree, order, page, Fetch} ◀── Search.ReadURL ◀── URL
//	                              │                └── Show, SourceFilter ──▶ JSON of a hit
//	                              └──▶ (packages search, aggregate, store)
//
//	bodies of _count, _validate, _field_caps, _msearch, _search/scroll, points in time,
//	_delete_by_query, _update_by_query, _reindex, _analyze ──▶ Read… ──▶ a type of its own
//
// # Terms
//
//   - clause: the object of one query in a tree; its reader is in clauses (tree.go), one
//     file for each family.
//   - option: a member of an object that the server declares with the kinds of values
//     that it takes (objects.go). Other objects it reads token by token: tokens
//     (parser.go) does as much.
//   - fetch: what is told of each hit; the same for hits, inner_hits and top_hits.
//   - source filter: includes and excludes, patterns of paths, that choose parts of
//     a source.
//
// # Invariants
//
//  1. What is not understood is refused, never left out. What the server knows and this
//     version does not is a 400 that names it.
//  2. What is told of malformed bodies are the server's words and places; testdata holds
//     what OpenSearch 2.19.0 answered to some 3,900 of them, and tests name the few that
//     we tell something else about.
//  3. Parsing takes memory and time in proportion to the body, its depth is bounded by
//     package token, and it never panics.
//  4. Trees are what clients asked for: names of fields and texts. What they mean in an
//     index, and so whether a value has the right form, is told by package search.
//  5. What a filter leaves of a source has the values as they were written; values of
//     fields are shown as the mapping understood them.
//
// What differs: a negative boost is told by the name of its query, where the server
// prints all of it. Absent on purpose: executing (package search), fields of binary and
// flat_object among fields, scripts, and HTTP.
package query
