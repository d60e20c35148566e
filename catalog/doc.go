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
// # What settings of an index mean here
//
// Every setting of an index that OpenSearch 2.19 has without plugins is known, with its
// values and when it may change; others are refused with its words. They are in three
// groups:
//
//   - they do what they do on the server: number_of_shards, routing_partition_size,
//     refresh_interval, gc_deletes, hidden, blocks.*, mapping.* (limits, coerce,
//     ignore_malformed), default_pipeline and final_pipeline (there are no pipelines, so
//     writes fail as they do on a server without the pipeline), write.wait_for_active_shards
//     and number_of_replicas (kept and shown; a single process has one copy of each shard).
//   - they are kept, shown and checked, and change nothing that a client could see: how
//     files are written, merged, cached, moved and recovered (codec, store.*, merge.*,
//     translog.*, routing.*, …), what is logged, and limits of searches that are not
//     here yet (max_*, query.*, analysis.*, similarity.*).
//   - they are refused, because to keep them would be to promise what is not done: sort.*,
//     data_path, search.default_pipeline, append_only.enabled, composite_index, and
//     query.parse.allow_unmapped_fields when it is false.
//
// Of the cluster's settings action.auto_create_index and action.destructive_requires_name
// do something; those about sharing work between servers are kept and shown.
//
// Different from the server: a null in settings of a new index is left out instead of shown
// as null; alias filters are kept as they are and not read, and package store refuses to search
// through them; changes of mappings and settings of several indices are tried on all and then made one by one.
//
// Absent on purpose: mappings (package mapping), placements (package placement),
// reading and storing records (package store).
package catalog
