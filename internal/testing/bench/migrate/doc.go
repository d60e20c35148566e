// Command migrate measures a migration from the command to its proof: into a target that
// only counts, into a real OpenSearch, and into a data folder; and what is repeated after
// kill -9. It prints a table as Markdown, and a sentence.
//
//	go run ./internal/testing/bench/migrate                      # 500,000 documents of 1 KB
//	go run ./internal/testing/bench/migrate -documents 20000     # a quick try
//	go run ./internal/testing/bench/migrate -only null -repository DIR
//
//	documents ──▶ OpenSearch ──▶ snapshot ──▶ reshelve migrate ─┬─▶ null target   copy only
//	 (seeded)         ▲             (once)          │       │   └─▶ null target   killed, and gone on with by another
//	                  └─────────────────────────────┘       └─────▶ folder        copy and comparison
//	                     copy and comparison
//
// Terms: the copy is the time from the first bulk request, or the beginning of the phase
// "documents", to its end; the comparison is the phase "verify". A core's worth is what one
// processor does in a second of its time, whatever else the machine did. Into the null target
// bytes are those of requests, elsewhere those of sources.
//
// Invariants:
//
//  1. Processor time and memory are the kernel's account of whole processes: ours is that of
//     reshelve migrate, leases, cursors and counting included; the target's is the server's.
//     Into a folder ours is that of the store, too.
//  2. The null target takes every operation and keeps nothing: what it is sent is what any
//     other is sent. It is in the process of the benchmark, which is not counted.
//  3. A migration that did not prove itself ends the run, but for the null target, which has
//     nothing to compare.
//  4. The first document is the first of which the target tells: the null target when its
//     request begins, the server by a count that it is asked for fifty times a second.
//  5. Who is killed is under a limit of a twentieth of the documents a second, so that some
//     heartbeats pass before; what is repeated is told in documents, and as the time in which
//     it had sent so many.
//
// Absent on purpose: several machines, slow networks, and the peers, which are not run here.
package main
