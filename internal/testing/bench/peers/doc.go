// Package peers runs the servers that benchmarks compare, this store and OpenSearch,
// and is their client; and what the benchmarks themselves have in common: [Main],
// [Progress], [InFolder], [Run].
//
//	Build ──▶ Reshelve ─┐              ┌─▶ CPU, Memory, Disk: what the kernel accounts
//	       OpenSearch ──┴─▶ *Peer ──▶ ─┼─▶ Concurrently ──▶ Conn: prepared requests on kept connections
//	                                   └─▶ Create, Load ──▶ the documents of bench/corpus
//
// Invariants:
//
//  1. Both peers get the same requests from the same client, which reads no more of an
//     answer than it has to, so that little of the time is its own.
//
//  2. CPU time and memory are the kernel's account of the server's process.
//
//  3. An answer to a bulk request that does not say "errors":false ends the run, unless it says that
//     this was too much just now: then the request is sent again.
//
//  4. Each peer runs with the options that it is shipped with, and is warm: [Run.Warm] goes on until
//     three rounds agree. Only the heap of Java is set: 1 GB.
//
//  5. No ratio is printed of a run during which other processes used the processors, or in which a peer did
//     not become warm: [Run] watches, and prints what happened, with the options and the load.
//
// Absent on purpose: any other tuning of either peer.
package peers
