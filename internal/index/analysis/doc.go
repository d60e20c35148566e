// Package analysis takes text apart into terms, as OpenSearch 2.19 does: its own
// analyzers, and those that the settings of an index define.
//
//	settings ──▶ New ──▶ Analysis ──▶ Analyzer:  char filters ──▶ tokenizer ──▶ token filters ──▶ tokens
//	                              ├─▶ Normalizer: char filters ──▶ token filters ──▶ one term
//	              body of _analyze ──▶ Inline ──▶ tokens with places in UTF-16 units
//
// # Terms
//
//   - analyzer, normalizer, tokenizer, filter: as in the settings of an index
//     (index.analysis.*).
//   - token: a term with its place in the text; see [Token].
//   - position: the place of a token in the order of tokens, from 0. Tokens of one place
//     (synonyms) have one position; a removed stop word leaves a hole. [Continue] counts
//     over the values of a field.
//   - bare name: a part that an analyzer names without a definition.
//
// # Invariants
//
//  1. The same text gives the same tokens, whatever was analyzed before.
//  2. A name or a value that the server refuses is refused with its type and reason.
//     Options that the server does not read are not read, as there. What the server does
//     and this package does not is refused by name: "… is not supported".
//  3. Memory is bounded by a small multiple of the text and of what options ask for
//     (grams, shingles, synonyms): terms are parts of the text where they can be.
//  4. The standard tokenizer's fast path gives what the rules give.
//  5. What a language needs is read at its first word: a program that never uses Armenian
//     pays for the text of its table alone.
//
// The classes of code points (classes.txt, classic.txt) were asked from the server, since Bleve's
// segmenter knows no emoji and other types. Stemmers, normalizations and stop words are
// Bleve's and Snowball's where they do what Lucene's do; what differs is mended where it
// stands, and what they have not follows the papers and Snowball's descriptions, with the
// endings of a language in stems/LANGUAGE.txt (see [stemTable]) and lists of stop words in
// stops/LANGUAGE.txt. Files testdata/*.jsonl are answers of OpenSearch 2.19.0; tests named
// Live ask it again, and compare generated chains, texts, synonyms and markup.
//
// # Refused by name
//
//   - analyzers: thai, whose words are those of a dictionary.
//   - tokenizers: uax_url_email, thai; simple_pattern and simple_pattern_split with a
//     pattern.
//   - filters: concatenate_graph, condition, delimited_payload, delimited_term_freq,
//     flatten_graph, hunspell, hyphenation_decompounder, kstem (a dictionary of 27,000
//     words), min_hash, predicate_token_filter, type_as_payload; in multiplexer what does
//     not look at one term at a time; of stemmer and snowball the languages dutch_kp,
//     kstem (light_english), lovins, nepali, serbian, yiddish, and of snowball Arabic,
//     Greek, Hindi and Indonesian.
//   - options: stop's remove_trailing false; synonyms of WordNet, updateable, synonym_analyzer;
//     html_strip's escaped_tags script and style; files of words (the server's error about a
//     file that cannot be read); a position_increment_gap below 0.
//   - regular expressions that need backtracking (looking around, back references,
//     possessive quantifiers), \b, classes within classes, flags MULTILINE, COMMENTS and rarer.
//   - explain of _analyze.
//
// Some values that the server refuses at the first text are refused at once: limits of
// tokens and grams, groups of patterns, unknown languages of snowball.
//
// # Known differences
//
//   - Java works on UTF-16 units. A code point outside of the basic plane counts as one
//     letter here, and as two there, for stemmers, word_delimiter's offsets, and patterns
//     that match nothing between its halves; half a code point is U+FFFD.
//   - $ in a pattern is the end of the text, and not also before its last line's end.
//   - limit, without consume_all_tokens, ends a value where the standard tokenizer would,
//     which shows in offsets of the next value in _analyze alone.
//
// Absent on purpose: fields and mappings (package mapping tells which analyzer a field has),
// payloads.
package analysis
