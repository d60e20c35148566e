// Package transform changes documents on their way: fields are renamed, removed and set, and
// documents dropped, by steps that people write down, with expressions and no scripts. It is
// pure: the same steps and document give the same result.
//
//	steps (YAML or JSON) ─Parse─▶ Steps ─For(index)─▶ Program ─Apply─▶ source, or dropped
//
// # Terms
//
//   - step: one of drop, rename, remove and set, for the indices that fit its patterns, and
//     the documents for which its condition is true.
//   - path: names of members, from the outermost on, with dots between: a.b is the member b of
//     the object a, or the member "a.b" where there is one. A path goes into each object of an
//     array.
//   - tally: how many documents each step has met, changed and dropped, for whoever wants to know
//     whether a step did what it was meant to do.
//   - expression: of the language of github.com/expr-lang/expr. It sees doc (the source as it
//     is after the steps before), id, routing, type and index.
//
// # Invariants
//
//  1. What no step names stays byte by byte as it was, numbers as they were written included.
//     A document that no step has changed is handed back as it came.
//  2. A document for which a step cannot be done is an error that names the step, never a
//     document that is half changed.
//  3. Expressions see neither clock nor chance, and what they may allocate is bounded.
//  4. Steps, and documents of any depth, are read in bounded memory, and nothing panics.
//
// Absent on purpose: reading files, changing ids, routing or versions, and anything that needs
// to know other documents.
package transform
