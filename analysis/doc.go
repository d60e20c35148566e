// Package analysis takes text apart into terms, as OpenSearch 2.19 does: its own
// analyzers, and those that the settings of an index define.
//
//	settings ──▶ New ──▶ Analysis ──▶ Analyzer:  char filters ──▶ tokenizer ──▶ token filters ──▶ tokens
//	                              └─▶ Normalizer: char filters ──▶ token filters ──▶ one term
//
// # Terms
//
//   - analyzer, normalizer, tokenizer, filter: as in the settings of an index
//     (index.analysis.*).
//   - token: a term with its place in the text; see [Token].
//   - position: the place of a token in the order of tokens, from 0. Tokens of one place
//     (synonyms) have one position; a removed stop word leaves a hole.
//
// # Invariants
//
//  1. The same text gives the same tokens, whatever was analyzed before.
//  2. A name or an option that is not known is refused with the server's type and
//     reason; nothing is ignored.
//  3. Memory is bounded by a small multiple of the text.
//
// Tokenizers, filters and stemmers are Bleve's where they do what Lucene's do; what
// differs is told at each.
//
// Absent on purpose: fields and mappings (package mapping tells which analyzer a field has).
package analysis
