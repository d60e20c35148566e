// Package token reads JSON as the parser of OpenSearch 2.19 does: what that
// accepts is accepted, what it refuses is refused with its words and places. It
// writes strings as that server's generator does.
//
//	bytes ──▶ Reader.Next ──▶ Object Key String Key Array Integer ArrayEnd ObjectEnd End
//
// # Terms
//
//   - token: a bracket, a key, or a scalar value; see [Kind].
//   - place: line and column of a byte, from 1.
//
// # Invariants
//
//  1. No input makes the reader panic, and it allocates by the depth of what it
//     reads and by the keys of open objects, never by a length that is only claimed.
//  2. Depth and the length of numbers are bounded as in the server: 1000 each.
//  3. Errors are exceptions: json_parse_exception, json_e_o_f_exception, or
//     stream_constraints_exception.
//
// Absent on purpose: building values, and writing more than strings: answers are appended
// where they are made (numbers: package java).
package token
