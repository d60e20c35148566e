// Package store is the document store: it finds the index of a name, the shard
// of a document, and puts, gets, scans and counts documents there.
//
//	Write ──▶ names (catalog) ──▶ fields (mapping) ──▶ order key (routing) ──▶ owner (placement) ──▶ shard
//	  ▲                             │ new fields                                   │ stale
//	  │                             ▼                                              ▼
//	  └──────────── view ◀── compare-and-set in coord ◀──────────────────── read again, re-drive
//
// # Terms
//
//   - view: catalog, index records, mappings and placements as they were last read; one
//     immutable value, replaced as a whole. A request works with one view until
//     it is told that it is stale.
//   - re-drive: the part of a request that was answered stale is routed again by
//     a newer view, within the request's deadline.
//   - dirty: written to since the last refresh.
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
//  5. A source is kept and given back byte for byte.
//
// Absent on purpose: HTTP, JSON answers (package gateway), flags and folders
// (package control), and how rows are kept (package shard).
package store
