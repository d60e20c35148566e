// Command split measures a split of one shard into two while clients write and search, and
// beside it what there is otherwise: a real OpenSearch's _split, which blocks writes, and a
// client that reads an index and writes another, there and here; all in one run.
//
//	go run ./internal/testing/bench/split                        # 200,000 and 2,000,000 documents of 1 KB
//	go run ./internal/testing/bench/split -documents 50000 -seconds 3   # a quick try
//
// Terms: answering means that every target takes the requests of its range: the end of the
// phase switch. Pause is what the requests that waited for the hand-off felt, as the
// movement tells it. Before, in its first two seconds, and then, until it has finished or for a
// minute, are of the same clients, one that searches, in turn in five ways, and one that writes.
// The same is done, for as long, to an index that is loaded alike and not split: it grows as fast.
// A fresh index of the same shape has two shards and the same documents, in the same state of
// merging: what was loaded is copied into it, and what was written beside the split is written to
// it at the same rate. It is searched in turn with the one that was split when nobody writes.
//
//	load ─▶ clients: before ─▶ split: its first 2 s ─▶ then, a minute at most ─▶ the same without a split ─▶ copy, and write, a fresh index
//	                                                                                                         ├▶ searches of both, in turn
//	                                                                                                         └▶ split again, at rest: bytes written
//
// Invariants:
//
//  1. Every answer of a client is checked: a refused write or an empty search ends the run.
//  2. Bytes until the hand-off are those that the kernel has accounted to the server while no
//     client was at work.
//  3. Both servers are re-indexed by the same client.
package main
