// Package automaton has automata over the bytes of terms: of wildcards, regular expressions, prefixes,
// and words that are like another by a number of edits. A search walks a dictionary by one, and skips
// what it cannot accept.
//
//	text ──words, regexp──▶ nfa, over characters ──determine──▶ dfa ──▶ Words, over the bytes of UTF-8
//
// # Terms
//
//   - nfa: an automaton over characters that may go several ways at once; dfa: one that goes one way.
//   - worth: of a state in which a term may end, 1 and the number of edits that it took to get there.
//   - effort: the work that making a dfa takes, as Lucene counts it; beyond the limit an expression is too complex.
//
// # Invariants
//
//  1. An automaton is built as a whole, with no more work than its limit allows, whatever the expression.
//  2. Errors are the server's, with its type and reason.
//
// Absent on purpose: dictionaries and segments (package search walks them).
package automaton
