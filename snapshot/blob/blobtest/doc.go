// Package blobtest is what every bucket must do, as a test: the conformance
// suite of the contract in package blob, run by each adapter against its store
// and by the one in memory. Beside it are two faulty buckets for tests of what
// stands above: [Slow] and [Flaky].
//
// Invariant: the suite uses the contract only; how the contents come into the
// store is the adapter's test's business.
package blobtest
