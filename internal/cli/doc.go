// Package cli is the terminal's face of Reshelve: flags, tables, progress lines,
// error messages and exit codes. What is done, and what is allowed, package
// control decides.
//
//	arguments ──▶ a verb's flags ──▶ a request ──▶ control ──▶ answer ──▶ table, or JSON ──▶ stdout
//	                                                  └─────▶ notes, progress, the error ──▶ stderr, exit code
//
// # Terms
//
//   - note: a line for people on standard error that is no error.
//   - confirmed, unreached, position: see packages snapshot and document.
//
// # Invariants
//
//  1. Standard output carries the answer and nothing else: documents, one table,
//     or one JSON document. Notes, progress and errors go to standard error.
//  2. The exit code is that of the error's kind in fault.Kinds, and 0 without an
//     error; [Run] is the only place that decides it.
//  3. A source leaves as it was stored, but for raw line breaks, which become
//     spaces; so one document is one line.
//  4. The first document is written at once; memory and the number of
//     allocations do not grow with the number of documents.
//  5. A run that stops early says where another one goes on, and which checksums
//     it has not seen.
//
// Absent on purpose: colours, prompts, and a configuration that is found by itself: a file
// is read when --config names it.
package cli
