// Command search measures searching beside a real OpenSearch server, in turn on this
// machine, and prints tables of docs/benchmarks.md as Markdown.
//
//	go run ./internal/testing/bench/search                # 200,000 documents in each
//	go run ./internal/testing/bench/search -documents 20000 -each 1s   # a quick try
//	go run ./internal/testing/bench/search -curve 10000,1000000          # this store alone, by size
//	go run ./internal/testing/bench/search -shards 8,64,256             # this store alone, by how many shards the documents are in
//	go run ./internal/testing/bench/search -kinds phrase,sort            # some kinds of searches alone
//
// Terms: a peer is one of the two servers (bench/peers); a kind is one sort of search,
// of which there is a list with other words and numbers in each; a round measures each
// kind in both peers for a while. Documents are those of bench/corpus.
//
//	load, refresh, idle ──▶ CPU ──▶ the same answers? ──▶ rounds: p50, p99, CPU ──▶ merged: disk
//	     ──▶ killed, started again: first search ──▶ idle: memory
//
// Invariants:
//
//  1. Both peers get the same requests in the same order from the same client, never
//     at the same time, and change places from round to round.
//  2. Before anything is timed all searches were asked of both, and their answers
//     compared: totals, counts, buckets, scores, sort values, and the ids of the hits but
//     those that tie with the last one. What differs is printed with the table.
//  3. OpenSearch keeps whole answers without hits; the requests ask it not to, because
//     few people ask the same again. Its cache of filters is left alone.
//  4. The CPU time of a load holds all that follows from it: refreshes and merges
//     until the server is idle. Loads come before it until three agree, so that Java is
//     warm, and so with each kind of search; ratios need a quiet machine: see bench/peers.
//
// Absent on purpose: gets and the rate of writes alone, which bench/store measures.
package main
