// Package lucene reads the documents out of segments that Lucene 4.x to 10.x
// wrote: commits, segment infos, compound files, field infos, live documents,
// soft deletes, numeric doc values and stored fields. It knows no index other
// than the one in front of it: no clusters, no snapshots, no document ids.
//
//	segments_N ── Commit ── SegmentCommit…            which segments count
//	     │
//	     └─ OpenSegment: .si .cfe .fnm ── Segment      what one segment holds
//	                         │
//	          Live ──────────┤  .liv / .del, __soft_deletes in .dvm/.dvd
//	          StoredFields ──┤  .fdt (and .fdx/.fdm to start in the middle)
//	          Columns ───────┘  numeric doc values, in document order
//
// # Terms
//
//   - directory: where the files of one index lie; see [Directory].
//   - document number: a document's place in its segment, from 0, counting
//     deleted and nested ones.
//   - live: neither deleted (.liv) nor soft-deleted (doc values).
//   - chunk: the unit in which stored fields are compressed.
//   - confirmed: read to its footer, and the footer's checksum was right.
//
// # Invariants
//
//  1. A file is opened by the codec name in its own header, never by the codec
//     that the segment claims; so wrapping codecs need no registry.
//  2. No byte is trusted before it is checked: every length and offset is held
//     against the file's length, and a file that is read whole is used only
//     after its footer's CRC-32 was right. Streams (stored fields, columns) are
//     handed out before their footer, and say whether they were confirmed.
//  3. Segment id and suffix in each header are those of the segment: a file of
//     another segment is refused.
//  4. Memory is bounded by what the file's length can justify, whatever numbers
//     stand in it; streams hold one chunk.
//  5. No byte of a stored document is read twice, and none that the question does
//     not need. Heads and indexes of a file, some hundred bytes, may be: by soft
//     deletes and columns of one file, and by each part of a segment.
//  6. Counts agree: documents in stored fields, bits in live documents, soft
//     deletes and the promises of the commit, or reading fails.
//
// # Absent on purpose
//
// Writing, searching, postings, points, vectors, norms, term vectors, and the
// codecs' own names.
package lucene
