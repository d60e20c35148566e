// Package gatewaytest serves a store in the process of a test, with all that the real binary
// offers by HTTP.
//
//	Serve(t, engine) ── control.Serve ── gateway, movements ── the engine, records in memory
//
// # Invariants
//
//  1. What is served listens on loopback, at a port of its own, and is closed with the test; an
//     error of closing fails it.
//
// # What is absent on purpose
//
// A process of its own, kills and disks: package proof runs the real binary.
package gatewaytest
