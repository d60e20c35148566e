// Package inflate decodes raw DEFLATE (RFC 1951) in one call: the whole source
// is there, the length of the output is known, and what its first bytes may
// refer back to (a preset dictionary) stands right before it in the same buffer.
// Knowing all that is what makes it faster than a decoder of streams.
//
//	Decode ── block header ── stored:  copy
//	             │
//	             └─ code lengths ── tables ── fast ── careful
//
// Fast decodes symbols while source and output are far from their ends, and so
// asks for neither; careful decodes the few at the ends. Both look symbols up in
// the same tables: see table.go.
//
// # Terms
//
//   - symbol: a literal byte, the length of a match, or the end of a block; after
//     a length, a distance follows.
//   - bits: the next bits of the source, the first one lowest, in a 64-bit word
//     that is refilled with whole bytes.
//
// # Invariants
//
//  1. Decode accepts a source exactly when compress/flate accepts it, its output
//     has the promised length; and its output is the same.
//  2. It writes only the output's bytes and, beyond them, bytes of the
//     destination that the caller has given it as room.
//  3. Its memory is constant, and it allocates nothing.
//
// # Absent on purpose
//
// Compression, zlib and gzip wrappers, streams.
package inflate
