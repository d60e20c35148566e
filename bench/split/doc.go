// Command split measures a split of one shard into two while clients write and search, and
// beside it what a real OpenSearch offers: _split, which blocks writes, in the same run.
//
//	go run ./bench/split                        # 200,000 and 2,000,000 documents of 1 KB
//	go run ./bench/split -documents 50000 -seconds 3   # a quick try
//
// Terms: answering means that every target takes the requests of its range: the end of the
// phase switch. Pause is what the requests that waited for the hand-off felt, as the
// movement tells it. Before, during and after are of searches and writes by the same
// clients.
//
//	load ─▶ clients: before ─▶ split: during ─▶ after ─▶ split again, at rest: bytes written
//
// Invariants:
//
//  1. Every answer of a client is checked: a refused write or an empty search ends the run.
//  2. Bytes until the hand-off are those that the kernel has accounted to the server while no
//     client was at work.
package main
