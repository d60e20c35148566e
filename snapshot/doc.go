// Package snapshot reads snapshot repositories that Elasticsearch 1.x to 9.x and
// OpenSearch 1.x to 3.x wrote, from the repository's root down to the documents
// of a shard. It reads through its own small [Bucket] and writes nothing.
//
//	Open(bucket) ── Repository          index-N or index: which snapshots are there
//	     Find / All ── Snapshot         snap-*.dat: state, indices, failures
//	          Global                    meta-*.dat: templates, data streams
//	          Index ── Index            meta-*.dat of the index: settings, mappings
//	               Shard ── Shard       snap-*.dat of the shard: its files
//	                    Documents       the live documents, in commit order
//	          Verify, Estimate          every file; or what a read would cost
//
// # Terms
//
//   - repository: one root with any number of snapshots that share files.
//   - generation: the number N of the root file index-N that counts.
//   - blob: one object of the repository. A file of a shard lies in one blob, in
//     numbered parts, or (virtual) inside the manifest itself.
//   - manifest: the list of a shard's files in one snapshot.
//   - base path: the repository's root inside its store. With one, OpenSearch 3.3
//     and later put shards beside it; a bucket that reaches there is an [Outside].
//   - set aside: said of a snapshot that a later server lists as incompatible. It
//     is read where its files are there.
//   - position: see package document.
//   - unconfirmed: handed out before the checksum at its file's end was seen.
//
// # Invariants
//
//  1. What one file says of another is compared: names and ids of snapshots,
//     indices and shards, lengths and checksums of the manifest. A difference is
//     Corrupt and names both places.
//  2. A document is handed out once, in commit order, or counted as nested,
//     deleted, soft-deleted or without source; the sums agree with what the
//     commit promises, or reading fails.
//  3. A stream that ends with an error says which positions it handed out
//     unconfirmed.
//  4. What cannot be read is Refused with what it is and what to do; it is never
//     skipped.
//  5. Memory does not grow with the size of a shard.
//  6. A cluster may go on writing to the repository. What it replaces, the root file
//     and the indices of shards, is read again where it is not there: damage is
//     what the present root file names and is not there. A snapshot that is deleted
//     meanwhile is Refused as such.
//
// # Absent on purpose
//
// Writing or cleaning repositories, restoring files, caches on disk.
package snapshot
