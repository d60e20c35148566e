// Package cluster is the one client of clusters: OpenSearch 1 to 3, Elasticsearch
// 7 to 9, and Reshelve's own store, over HTTP or within the process (see [Via]).
//
//	Open ─▶ Client ─┬─ Send, Do          one request: repeated while that is harmless
//	                ├─ Server            who answers
//	                ├─ indices, templates, aliases, data streams, settings, disks
//	                ├─ repositories, snapshots
//	                ├─ NewWriter ─▶ Writer ◀─ Batch ◀─ Op      every operation ends in one way
//	                └─ OpenScan  ─▶ Scan ─▶ Slice ─▶ documents  every document, once
//
//	Writer:  Batch ─▶ rate limits ─▶ pace ─▶ POST /_bulk ─▶ sorting ─┬─▶ acknowledged, conflicts, failed
//	                       ▲                                         └─▶ rejected: again, alone
//	                       └───────── halves, when one request is too long or refused whole
//
// # Terms
//
//   - harmless: applied twice as good as once.
//   - trouble: why one attempt failed, and whether another is worth it.
//   - patience: how long something that fails in passing is tried.
//   - pace: how many requests of a writer are in flight; it adapts to the cluster.
//   - place: where a scan stands: the sort of its last document, in a point in time; of rows the
//     place of the last one.
//
// # Invariants
//
//  1. An answer that is no success is an error whose type and reason are the other
//     side's, whose kind and next action are from the one table of this package, and
//     whose place is the address without credentials.
//  2. An answer is read up to a limit, and never in part: a longer one is an error.
//  3. A request that may have been applied is only repeated when that is harmless.
//  4. Each operation of a batch ends in exactly one of acknowledged, conflict and
//     failed; with an error it may be unknown. What was acknowledged is not sent again
//     unless its request's outcome was unknown. An answer counts as a whole or not at
//     all, and only when it tells of as many operations as were sent.
//  5. Operations of a batch on one document take effect in the batch's order.
//  6. A document that is wrong costs its own place and nobody else's; one that
//     nothing is wrong with is not given up because the cluster is.
//  7. A scan gives each document of its moment once, or ends with an error: a page
//     that lacks a shard, or was cut, is none.
//  8. Credentials are sent to the given address alone, and are in no text of this
//     package: redirects are not followed.
//
// # What differs between servers
//
//   - OpenSearch before 2.4 and Elasticsearch before 7.12 are scanned by scrolls, which
//     cannot be resumed. OpenSearch has no order of places over shards, so that its
//     scans have as many slices as the index has shards, or a multiple.
//   - Our own store gives documents out as rows, by order key and without searching, in slices of
//     the order keys: so each block of its files is read once. That its searches find as many
//     documents is asked apart; see [Scan.Shown].
//   - A full disk makes items fail with 429 from the servers that are tested,
//     and with 403 from older ones; the type is the same.
//   - Elasticsearch 7.17 tells of a snapshot that is not there with an empty list.
//   - One id that is longer than 512 bytes makes every server refuse its whole request.
//
// Absent on purpose: discovery of nodes and balancing between them (an address is
// one), mapping types of Elasticsearch 6 and older, and updates by script: what is
// repeated must be harmless.
package cluster
