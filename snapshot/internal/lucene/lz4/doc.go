// Package lz4 decodes single LZ4 blocks as Lucene stores them: without frame,
// end mark, checksum or compressed length, but with a decompressed length that is
// known beforehand and, for some formats, a dictionary.
//
// A block is a row of sequences. A sequence is a token, literals, and a match:
//
//	token      high four bits: number of literals, low four: match length − 4
//	[length]   when a number is 15: bytes to add, up to and with one below 255
//	literals
//	offset     two bytes, little-endian: how far back the match begins
//	[length]
//
// The last sequence ends with its literals. What a match may reach back to, the
// history, stands in the same buffer right before the output, so that a
// dictionary needs no code of its own. (Format: LZ4 block format description,
// github.com/lz4/lz4, doc/lz4_Block_format.md.)
//
// Invariants
//
//  1. Decode writes only the output's bytes and, beyond them, bytes of the
//     destination that the caller has given it as room.
//  2. It reads no byte before the destination's start and none behind the source.
//  3. It ends: every sequence consumes source bytes.
//  4. It says how many source bytes the block took.
//
// Absent on purpose: compression, frames, checksums.
package lz4
