// Package document holds what a document is to every other package: its
// identity (index, id, routing), its source and versions, and its position in
// a snapshot's shard.
//
// # Terms
//
//   - source: the JSON bytes of the document, passed through untouched.
//   - stored id: the bytes under which Elasticsearch 6 and later store an id;
//     see [AppendID].
//   - fingerprint: what stands for a document where documents are compared, whatever the order
//     of its members and its white space; see [Fingerprint].
//   - row: a document among all of an index, as our store hands them to another process; its
//     place is where it stands there; see [Row].
//   - position: index, shard and shard-wide document number in commit order,
//     deleted and nested documents counted; see [Position].
//
// # Invariants
//
//  1. A Document is a view: its byte slices belong to the reader that filled it
//     and are valid until that reader's next call.
//  2. Position has one text form, index/shard/number, and ParsePosition(p.String()) == p.
//  3. Every id that a server can store decodes to the text that the server shows.
//  4. Fingerprints are equal for equal documents, and, but for collisions of SHA-256, for no
//     others. Their formula never changes.
//
// Absent on purpose: parsing of sources into values, and deciding what a difference
// means; those belong to the lanes.
package document
