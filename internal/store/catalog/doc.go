// Package catalog is what a store knows of names: indices, aliases, templates
// and data streams, and the settings of indices. It decides; it stores nothing.
//
//	names ──▶ Expression ──▶ Resolve ──▶ indices
//	name  ──▶ WriteTarget ──▶ the one index that a write goes to
//	edits ──▶ Catalog ──▶ Catalog, one record: all of an edit happens, or nothing
//
// # Terms
//
//   - catalog: one record that holds every name; see [Catalog]. What must change
//     together (aliases of several indices, a data stream and its backing index)
//     is in it, so one compare-and-set switches it.
//   - index record: settings and mappings of one index; see [Index]. An index
//     exists when the catalog names it; a record that it does not name is left over.
//   - number: an index's identity in keys, given out once. UUID: its identity for people
//     and clients.
//   - expression: a list of names, patterns, exclusions and date math, with the
//     options that say what absent and closed ones mean.
//   - creation: what a new index is made of, after templates have been applied.
//
// # Invariants
//
//  1. A name is an index, an alias or a data stream, never two of them.
//  2. A catalog is immutable; an edit gives a new one, or an error with the
//     server's type and reason, and then nothing has changed.
//  3. Numbers are never given out twice.
//  4. Encoding and decoding gives the same catalog; a damaged one is refused.
//
// # What settings mean here
//
// Every setting of an index that OpenSearch 2.19 has without plugins is known, with its values and
// when it may change; others are refused with its words. Each of them, and each setting of the
// cluster, has one of three fates: it has its effect, it is checked and kept and changes nothing
// that a client could see, or it is refused because to keep it would promise what is not done.
// docs/settings.md lists which; a test compares that list with the tables of this package.
//
// Different from the server: a null in settings of a new index is left out instead of shown as
// null; changes of mappings and settings of several indices are tried on all and then made one by
// one.
//
// Absent on purpose: mappings (package mapping), placements (package placement),
// reading and storing records (package store).
package catalog
