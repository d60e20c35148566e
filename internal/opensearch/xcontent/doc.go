// Package xcontent turns what Elasticsearch and OpenSearch store as "x-content"
// into JSON.
//
// A server keeps the source of a document in the encoding in which a client sent
// it, and writes its own metadata in SMILE: so one repository holds JSON, SMILE,
// CBOR and YAML, some of it compressed. [Sniff] tells the encoding by the first
// bytes, [Expand] undoes the compression, [ToJSON] writes the JSON.
//
//	bytes of a file ── Expand ──▶ x-content ── ToJSON ──▶ JSON
//	 "ZV" "DFL\0" "ZSTD\0"        Sniff: { :)\n bf/a0… ---
//
// The servers read and write all of these with Jackson, and answer a search with
// what Jackson makes of a stored source. That answer is what users know as their
// document, so it is what this package writes, down to the characters:
//
//   - Members keep their order, repeated names are all kept.
//   - Floating-point numbers have Java's notation (1.0E10, 2.5E-7, 0.1), with the
//     digits of Double.toString since JDK 19: the fewest that give the number
//     back. A server on an older JDK answers with more digits for a few numbers
//     (4.729999999999999E21 for 4.73E21); they parse to the same number. Not-a-
//     number and the infinities are the strings "NaN", "Infinity", "-Infinity".
//   - Binary values are base64 (RFC 4648 §4) with padding.
//   - Strings escape the quotation mark, the backslash, control characters
//     (\b \t \n \f \r, else \u00XX with capital digits) and everything outside
//     the Basic Multilingual Plane (as a pair like \uD83D\uDE00); nothing else.
//   - A lone surrogate, which Java strings may hold and which arrives as three
//     bytes of otherwise valid UTF-8, becomes its escape \uD800: no character is
//     lost, and the output is UTF-8. Other invalid UTF-8 is an error.
//   - CBOR: tags other than the numeric ones are ignored, undefined is null, an
//     unassigned simple value is its number. Negative big integers (tag 3) are
//     read as minus n, as the servers read them, not as minus one minus n. A
//     number of single precision is written as one (0.1); Elasticsearch 1.x
//     alone answers with the digits of a double (0.10000000149011612).
//   - YAML is YAML 1.1 as SnakeYAML resolves it (yes, on, 017, 0x1F, 1_000), one
//     document; an alias is the name of its anchor as a string, because Jackson's
//     stream does not expand it: so there is no expansion to bound either.
//
// Terms
//
//   - back reference: a SMILE token that stands for a name or text seen before.
//   - shared table: the names, or texts, that back references count from; at most
//     1024, then it starts again from empty.
//
// Invariants
//
//  1. ToJSON without an error has appended one JSON object to dst (JSON input,
//     which is not looked into, excepted); with an error it returns dst as it was.
//  2. Expand and ToJSON give no more bytes than their caller allows: as a rule the
//     [Limit] of what is stored, for both steps together.
//  3. Memory grows with bytes that were produced, never with a length that was
//     only claimed (but for the window of a Zstandard frame, 8 MiB for a small one),
//     and stops growing at a small multiple of that limit.
//  4. Nesting deeper than 10,000 is refused: Go's own JSON decoder reads no more.
//  5. No input makes a function of this package panic.
//
// Absent on purpose: a tree of values, writing SMILE, CBOR or YAML, validation of
// JSON, CBOR's string references (tags 25 and 256: no server before 2023 reads
// them). An error where a server may have read on: YAML aliases without their
// anchor, and surrogates written as \u escapes in YAML.
package xcontent
