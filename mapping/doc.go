// Package mapping knows what the fields of an index are: it reads and merges
// mappings, guesses the types of new fields, and takes a document apart into typed
// values, as OpenSearch 2.19 does.
//
//	mappings (JSON) ──▶ Parse, Merge ──▶ Mapping ──▶ JSON
//	                                       │
//	source (JSON) ──────────────────▶ Mapping.Document ──▶ values, field by field
//	                                       └──▶ additions: what dynamic mapping adds
//
// # Terms
//
//   - mapping: all fields of an index with their types and parameters; see [Mapping].
//   - dynamic mapping: what happens to a field that the mapping does not know: it
//     is added, ignored, or refused.
//   - additions: the mapping update that a document asks for. The document is
//     taken apart again when it has been merged.
//   - value: one typed value of one field, as a [Sink] receives it.
//   - coercion: a value of another JSON type that the field accepts.
//
// # Invariants
//
//  1. A mapping is immutable; Merge gives a new one, or refuses, and then nothing
//     has changed.
//  2. Errors have the type and reason that the server gives (package exception).
//  3. Rendering a mapping and parsing it gives the same mapping; rendering has the
//     server's form and order of keys.
//  4. Taking a document apart allocates by what the source holds, and refuses
//     depth and numbers of fields beyond the limits.
//
// Absent on purpose: analysis of text into tokens (comes in as an interface with
// searching), and storing anything.
package mapping
