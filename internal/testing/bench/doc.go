// Command bench reads the same large shards with Reshelve and with Lucene's own Java reader, in turn on this machine, and
// prints a table of docs/benchmarks.md as Markdown.
//
//	go run ./internal/testing/bench                  # shards of 1 GiB, made once and kept: RESHELVE_BENCH, else the user's cache folder
//	go run ./internal/testing/bench -size 100M       # a quick try
//	go run ./internal/testing/bench -only deflate    # only the shards whose name holds this
//
// The shards of 1 GiB take 8 GB of disk and, once, about ten minutes to make on two cores; a run with five rounds takes about
// eight.
//
// Terms: a shard here is one index of one shard and one segment, written by a real server from seeded documents; it is kept
// twice, as the snapshot that Reshelve reads and as the Lucene directory that Java reads. A round is one run of each reader
// over each shard. Steady is a later pass in a JVM that is warm; random is access document by document, in order, without
// the merge instance.
//
//	documents ──▶ real server ──▶ snapshot repository ──▶ reshelve snapshot cat > /dev/null ─┐
//	 (seeded)          └────────▶ data/…/index ─────────▶ java ReadShard                    ─┴─▶ medians ──▶ table
//
// Invariants:
//
//  1. Both readers deliver the same: before anything is timed, the checksum over the ids and sources of all documents, in
//     order, as Reshelve printed them equals that of Java; a difference ends the run.
//  2. CPU time and memory are the kernel's account of the whole child process, start-up and warm-up included; what a warm
//     JVM would reach is printed beside it, never instead.
//  3. Readers run one after the other, never at the same time, and change places from round to round.
//  4. Java gets its best case: memory-mapped files, the sequential-access instance, no checksum of the files (Reshelve
//     checks them all), nothing printed. Shards in zstd are read with Elasticsearch's own classes, as its jars hold them.
//
// Absent on purpose: cold disks (the files come from the page cache for both), the network, several shards at once.
package main
