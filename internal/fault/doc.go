// Package fault gives every error of Reshelve a kind, a place and a next action.
//
// The kind decides what the program does: retry, reload, answer 404, quarantine
// a file, tell the user. It is set once, where the cause is known, and survives
// wrapping. HTTP status and exit code derive from it in the one table of this
// package (see [Kinds]).
//
// Terms
//
//   - kind: what sort of thing went wrong; see the constants of [Kind].
//   - place: where, from the outside in: repository path, index, shard, segment,
//     file, offset. Each floor adds the part that it knows with [At].
//   - next action: one sentence that says what the user can do; see [WithNext].
//
// Invariants
//
//  1. An error has exactly one kind: the outermost explicit one.
//  2. Wrapping with [At] or [WithNext] changes neither the kind nor the cause.
//  3. An error that nobody gave a kind is [Bug]; a cancelled context is
//     [Interrupted], an expired one [Unavailable].
//  4. The numbers and names of kinds are never reused: they leave the process
//     as exit codes, HTTP status and JSON.
//
// Absent on purpose: stack traces (the place says more), error codes per
// message, and translation.
package fault
