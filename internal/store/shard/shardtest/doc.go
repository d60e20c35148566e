// Package shardtest is what every shard engine must do, as a test: the conformance
// suite of the contract in package shard, run by each engine's tests and by the one
// in memory.
//
//	Run(t, Case) ─┬─ conversations   one shard or a family, a few requests, the exact answers
//	              ├─ histories       many clients at once; is there an order that explains them?
//	              └─ programs        random requests, answered as a plain map answers them
//
// # Terms
//
//   - talk: a shard with the placement that a test gives it, and short verbs for it.
//   - family: all shards of an index, whose ownership a test changes, with what was written.
//   - script: a conversation about versions in lines of text; its answers were
//     taken from OpenSearch 2.19.0.
//   - model: a map and a list, plain enough to be right.
//   - places: placements that a test moves by hand; [HandedOver] is what a hand-off makes of one,
//     for tests of other packages too.
//
// # Invariants
//
//  1. The suite uses the contract only. Where the contract leaves something open, the
//     suite takes every answer, and says so.
//  2. No test waits for time to pass, except for a deadline that must be reached.
//  3. Each test has an engine of its own.
//
// Absent on purpose: crashes and full disks; what an engine stands on differs, so
// each engine's own tests break that.
package shardtest
