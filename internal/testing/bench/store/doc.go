// Command store measures the document store beside a real OpenSearch server, in
// turn on this machine, and prints a table of docs/benchmarks.md as Markdown.
//
//	go run ./internal/testing/bench/store                # 200,000 documents in each
//	go run ./internal/testing/bench/store -documents 20000 -seconds 2   # a quick try
//	go run ./internal/testing/bench/store -curve 10000,1000000          # this store alone, by size
//
// Terms: a peer is one of the two servers (bench/peers); a phase is one thing that is
// measured in both, in rounds that take turns. Documents are those of bench/corpus.
// Acknowledged means that the answer to a bulk request of 1,000 documents has come;
// both servers sync each request before that.
//
//	load ──▶ acknowledged/s ──▶ gets: p50, p99, CPU ──▶ killed, started again: first answer ──▶ idle: memory
//
// Invariants:
//
//  1. Both peers get the same requests from the same client, never at the same
//     time, and change places from round to round.
//  2. Every answer is checked: a bulk answer says "errors":false, a get holds the
//     source that was sent. Something else ends the run.
//  3. CPU time and memory are the kernel's account of the server's process. Memory
//     is its anonymous part and its resident whole, after the servers were idle.
//  4. Both are warm and run as they are shipped, and on a busy machine there are no ratios: see bench/peers.
//
// Absent on purpose: searches, which bench/search measures.
package main
