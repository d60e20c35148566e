// Package reshelvetest serves a document store in the process of a Go test: the same store that
// reshelve serve offers, with the document API of OpenSearch and the orders for movements, on a free port
// of loopback. It is gone when the test ends. Movements may read any repository of the machine.
//
//	func TestBooks(t *testing.T) {
//		srv := reshelvetest.Start(t)
//		response, err := http.Get(srv.URL + "/_cat/indices")
//		…
//	}
//
// # Invariants
//
//  1. Each server has a folder and a port of its own, so that tests with servers may run in parallel.
//  2. Documents are on disk when they are acknowledged, as with the program; names, settings, mappings and
//     placements are in memory. The folder is removed with the test.
//  3. An error of closing fails the test.
//
// # What is absent on purpose
//
// A choice of engines, limits and flags: start the program for these.
package reshelvetest
