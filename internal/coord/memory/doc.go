// Package memory is a coordination store in memory: for tests, and for stores whose
// documents are in memory too.
//
//	Create, Swap, Delete ──▶ state (a value: records and revision) ──▶ History ──▶ watches
//
// # Invariants
//
//  1. A change is decided by package coord's rules under one lock, and what is
//     handed out or taken in is copied.
//  2. A watch remembers as many changes as [Remembered]; beyond, it is fault.Stale.
//
// Absent on purpose: everything that outlives the process.
package memory
