// Package coordtest is what every coordination store must do, as a test: the
// conformance suite of the contract in package coord, run by each adapter against
// its store and by the one in memory.
//
// Invariant: the suite uses the contract only, and asks for nothing that the
// contract does not promise; what an adapter does beside (which changes it
// remembers over a restart, how it fails on a full disk) is its own test's business.
package coordtest
