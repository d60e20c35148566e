// Package store is the document store: it finds the index of a name, the shard
// of a document, and puts, gets, scans and counts documents there.
//
//	Write ──▶ names (catalog) ──▶ fields (mapping) ──▶ order key (routing) ──▶ owner (placement) ──▶ shard
//	  ▲                             │ new fields                                   │ stale
//	  │                             ▼                                              ▼
//	  └──────────── view ◀── compare-and-set in coord ◀──────────────────── read again, re-drive
//
//	Rows ──▶ the readers of a point ──▶ rows by order key, without searching
//	Find ──▶ names ──▶ readers of all shards ──▶ search.Run over their views ──▶ Found ──▶ documents of hits
//
// # Terms
//
//   - view: catalog, index records, mappings and placements as they were last read; one
//     immutable value, replaced as a whole. A request works with one view until
//     it is told that it is stale.
//   - re-drive: the part of a request that was answered stale is routed again by
//     a newer view, within the request's deadline.
//   - dirty: written to since the last refresh.
//   - schema: what the fields and analyzers of an index mean; package fields. Shards index
//     by the newest one that a view has shown.
//   - found: what a search has found, with the readers that it was found in; see [Found].
//   - hand-off: shards become others, in one step: fence, stage, one compare-and-set of the
//     placement, the new owners open, release; see [Store.HandOff].
//   - point: readers that stay open between searches: of a point in time, or of a scroll.
//
// # Records
//
//	catalog            every name; see package catalog
//	index/NUMBER       settings and mappings of one index
//	placement/NUMBER   its shards
//
// # Invariants
//
//  1. The coordination store is the only truth about names, settings, mappings and
//     placements; a view is a copy of it, never a source.
//  2. An index is created record first, name last, and deleted name first: a crash
//     leaves records that nobody names, which Open removes.
//  3. A document is written only after every field of it is in the stored mapping.
//  4. Results are per item, in the caller's order; an item that was applied is
//     never sent again.
//  5. A source is kept byte for byte, and given back so where the mapping does not show less.
//  6. A hit is read from the reader that found it, so it always matches its query.
//  7. A search sees one reader of each shard; one that is refused as stale begins again.
//  8. A view has every shard that its placement names: what a placement names newly is open
//     before anybody routes by it, whoever has read it first.
//  9. A hand-off happens wholly or not at all, and its placement is changed within its budget; while it is not known
//     which, its shards admit nothing.
//  10. Points are bounded in number and in time, and an index that goes ends those that
//     hold a reader of it.
//
// Absent on purpose: HTTP, JSON answers (package gateway), flags and folders
// (package control), and how rows are kept (package shard).
package store
