// Package date reads and writes dates in the formats of OpenSearch 2.19, and does
// its date math.
//
//	"strict_date_optional_time||epoch_millis" ──ParseFormat──▶ Format
//	                                                             │ Parse, Format, ParseMath
//	"2020-02-29T24:00Z", "now-1d/d", "2020-01-01||+1M/M" ◀───────┘──▶ milliseconds since 1970
//	"<logs-{now/d{yyyy.MM.dd|+02:00}}>" ──ResolveName──▶ "logs-2020.02.29"
//
// # Terms
//
//   - format: one or more layouts, tried in their order; the first also writes.
//   - layout: a sequence of elements, as a pattern of java.time's letters or one of
//     the server's names describes it.
//   - element: a literal, a number, a fraction, a name, an offset, or an optional
//     sequence of elements.
//   - field: what an element reads or writes: year, day of month, half of the day …
//   - resolving: from fields to a day and a time. A strict layout refuses 31 April,
//     a plain one (the server says smart) moves it to the 30th and knows 24:00, a
//     lenient one counts on into May.
//   - rounding up: what a text does not tell is the end of its span, not the start.
//
// # Invariants
//
//  1. What a format reads, refuses and writes, and the type, reason and causes of
//     its errors are the server's: testdata holds its answers.
//  2. The fast path of the commonest texts (isoTime) never answers other than the
//     layout that it stands for.
//  3. Reading a text allocates nothing unless it fails, and takes time in
//     proportion to its length and the format's.
//
// Absent on purpose: the clock (now is an argument), names of zones other than
// UTC's inside of texts (they need a table; elsewhere [Regions] or a location
// come in), locales other than the root's, and refusing to write: a year that a
// format of the server has no digits for gets those that it needs.
package date
