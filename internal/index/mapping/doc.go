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
//   - object, leaf, alias: what a field is; a leaf takes values, an alias stands for
//     another field's path.
//   - multi-field: another way in which a leaf's values are known.
//   - dynamic mapping: what happens to a field that the mapping does not know: it
//     is added, ignored, or refused.
//   - template: a rule that gives new fields their definition, by name, path or the
//     guess made of their value.
//   - additions: the mapping update that a document asks for. The document is
//     taken apart again when it has been merged.
//   - value: one typed value of one field, as a [Sink] receives it.
//   - coercion: a value of another JSON type that the field accepts.
//
// # Reading
//
// A definition becomes a tree (tree.go) whose objects are walked in the order of
// the server's hash maps, which decides which of two mistakes is told. types.go is
// the one table of types and their parameters: reading (parse.go, params.go),
// merging (merge.go) and rendering (render.go) follow it. A source is never a tree:
// document.go walks its tokens and the mapping side by side, dynamic.go takes over
// where the mapping knows no field, read_*.go and value_*.go turn tokens into values.
//
// # Invariants
//
//  1. A mapping is immutable; Merge gives a new one, or refuses, and then nothing
//     has changed.
//  2. Errors have the type and reason that the server gives (package exception).
//  3. Rendering a mapping and parsing it gives the same mapping; rendering has the
//     server's form and order of keys. (One parameter is not rendered, by the
//     server neither: index of geo_point.)
//  4. Taking a document apart allocates by what the source holds, and refuses
//     depth and numbers of fields beyond the limits. A value of a known field
//     costs no allocation.
//  5. Additions that were merged are not asked for again.
//  6. Grow gives what parsing the rendering of Merge gives, at the cost of the update and of copies of lists.
//
// testdata holds what OpenSearch 2.19.0 answered, some 800 definitions, updates and
// documents; TestAnswers asks this package the same, TestLiveAnswers a real server.
//
// Absent on purpose: analysis of text into tokens (package analysis), and storing
// anything. Absent types, refused as the server refuses one
// that it does not know: completion, percolator, join, geo_shape, token_count,
// rank_feature, rank_features, search_as_you_type, derived fields, star_tree, and
// those of plugins. Regular expressions of dynamic templates are RE2's: no
// look-around, no back references.
package mapping
