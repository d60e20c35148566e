// Package inflate decodes raw DEFLATE (RFC 1951) in one call: the whole source
// is there, the length of the output is known, and what its first bytes may
// refer back to (a preset dictionary) stands right before it in the same buffer.
// Knowing all that is what makes it faster than a stream decoder.
//
// Invariants
//
//  1. Decode accepts a stream exactly when compress/flate accepts it and its
//     output has the promised length.
//  2. It writes only the output's bytes and, beyond them, bytes of the
//     destination that the caller has given it as room.
//  3. Its memory is constant.
//
// Absent on purpose: compression, zlib and gzip wrappers, streams.
package inflate
