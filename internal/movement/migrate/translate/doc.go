// Package translate makes the metadata of one server fit another: settings, mappings and
// aliases of indices, templates, data streams. It is pure.
//
//	source's JSON ─▶ rules of the route, in order ─▶ target's JSON, and what was changed and why
//
// # Terms
//
//   - route: the server that the metadata comes from, and the one that it goes to.
//   - rule: one named change with the routes that need it; see [Rules].
//   - change: a rule at one place. A change that loses meaning says so, and whoever plans a
//     migration asks before it goes on.
//
// # Invariants
//
//  1. What no rule names goes through as it is, byte for byte where it is a value.
//  2. Every difference between what goes in and what comes out is told as a change, but for
//     what the rule private names.
//  3. Rules are applied in one fixed order, and a route into the very version that made the
//     metadata needs only the rules that are Always.
//  4. What a target takes is a fact about it, asked of the real server: known.go, fieldTypes.
//
// An index with several mapping types becomes several bodies where types are split; Places
// tells which documents belong to which.
//
// Absent on purpose: plugins that a target may or may not have, files of the source's machines,
// rewriting documents, reading the source's metadata (snapshot) and asking the target (migrate).
package translate
