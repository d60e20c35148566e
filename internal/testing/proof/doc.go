// Package proof holds the tests that run the program as its users do: the real
// binary, real sockets, real disks, real kills, and a real OpenSearch beside it.
// Nothing of the product imports it.
//
//	go build ./cmd/reshelve ──▶ Process ◀── kill -9, SIGTERM, ulimit, a full tmpfs
//	                              ▲  │
//	            clients ── HTTP ──┘  └──▶ what every client saw ──▶ one order that explains it?
//	                              │
//	            one request ──────┴──▶ OpenSearch 2.19.0 ──▶ the same answer?
//	                              │
//	            a real snapshot ──┴──▶ reshelve migrate, worker ──▶ what the server that made it had?
//
// # Terms
//
//   - life: the time between one start of the process and its end.
//   - history: who asked what, when, and saw what, over all lives of a data folder.
//     A request that a kill interrupted has no known outcome: it happened before the
//     process was dead, or never.
//   - churn: indices, mappings and aliases made and deleted while clients write.
//   - matrix: snapshots of every version, moved into targets of several; what became of each
//     document stands in testdata/matrix.
//   - cell: one disturbance of one durable step of a split, a merge, a reversal or an abort, under
//     clients: the process is killed right before it or right after it, or the disk is full from
//     it on, for the process that goes on or for one that is started on it. A step is a change of a
//     record, a deed of the engine, or a segment file that is made, synced or removed; the program
//     of the tests of cmd/reshelve, which is main() with stores that tell, stops at each. Which
//     there are is what several undisturbed plays have in common.
//   - restless: a store whose work behind the scenes never rests, and overlaps in all ways: segments
//     get some KB of memory (RESHELVE_SHARE, which the program of the tests of cmd/reshelve alone
//     reads), owners write without a pause, shards are split and merged one after the other, and
//     other processes load the machine. It is killed at any moment, and often within a second after
//     a movement has finished.
//   - known: a defect of another program that moves snapshots, or a scenario that it is tested
//     with. TestKnownDefects and TestScenarios name for each the tests that hold it here.
//   - difference: an answer that is not OpenSearch's; those that are meant stand in one
//     table, each with its reason.
//
// # Invariants
//
//  1. A test that fails prints its seed and keeps its data folder.
//  2. A history without an order is a failure, never a warning; a check that runs out of
//     time is one too.
//  3. Processes are groups of their own; none outlives its test.
//
// PROOF_KILLS is the number of kills (20 when it is not set), PROOF_MOVING_KILLS that of kills while shards move (12), PROOF_SEED repeats the
// choices of a run (not its scheduling; TestLiveSearch asks the same without it, and
// PROOF_ROUNDS, PROOF_QUESTIONS and PROOF_COLLECT make it a long search), PROOF_BINARY tries another binary than the one
// that is built from this checkout, for example one that was broken on purpose. PROOF_CELLS is how many
// cells are played, drawn evenly (24), or "all". PROOF_MIGRATIONS is how many
// migrations are killed until they have ended (3), and RESHELVE_MATRIX=all takes every snapshot of the matrix.
//
// PROOF_RESTLESS_KILLS is the number of kills of a restless store (30), none begins after
// PROOF_RESTLESS_SECONDS (170), and PROOF_RESTLESS_LOAD is how many processes load the machine (2).
//
// What takes too long for each run of the tests:
//
//	RESHELVE_LIVE=1 PROOF_DOCUMENTS=1000000 go test ./internal/testing/proof -run TestLiveManySmallDocuments -v
//	PROOF_CELLS=all go test ./internal/testing/proof -run TestCells -v -parallel 6 -timeout 1h
//	make kills KILLS=500
//	RESHELVE_LIVE=1 PROOF_INDICES=2000 go test ./internal/testing/proof -run TestLiveManyIndices -v -timeout 30m
//
// Absent on purpose: crashes of the machine (the engine's own tests cut unsynced
// writes off a file system in memory; a killed process loses none that it handed to
// the system) and speed (package bench).
package proof
