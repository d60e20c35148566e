// Command migrate measures a migration from the command to its proof: into a target that
// only counts, into a real OpenSearch, and into a data folder. It prints a table as
// Markdown.
//
//	go run ./bench/migrate                      # 500,000 documents of 1 KB
//	go run ./bench/migrate -documents 20000     # a quick try
//
//	documents ──▶ OpenSearch ──▶ snapshot ──▶ reshelve migrate ──▶ null target   copy only
//	 (seeded)         ▲             (once)          │       ├────▶ OpenSearch    copy and comparison
//	                  └─────────────────────────────┘       └────▶ folder        copy and comparison
//
// Terms: the copy is the time from the first bulk request, or the beginning of the phase
// "documents", to its end; the comparison is the phase "verify". A core's worth is what one
// processor does in a second of its time, whatever else the machine did.
//
// Invariants:
//
//  1. Processor time and memory are the kernel's account of whole processes: ours is that of
//     reshelve migrate, leases, cursors and counting included; the target's is the server's.
//  2. The null target takes every operation and keeps nothing: what it is sent is what any
//     other is sent. It is in the process of the benchmark, which is not counted.
//  3. A migration that did not prove itself ends the run, but for the null target, which has
//     nothing to compare.
//
// Absent on purpose: several machines, slow networks, and the peers, which are not run here.
package main
