// Package opensearch is the coordination store that lies in the cluster itself: one
// index of OpenSearch 1–3, Elasticsearch 7.10–9, or Reshelve's own store.
//
//	Create ──▶ PUT _doc/KEY?op_type=create ───────────────┐
//	Swap   ──▶ PUT _doc/KEY?if_seq_no=…&if_primary_term=… ┼──▶ .reshelve, one shard ──▶ GET .reshelve/_search: records to look at
//	Delete ──▶ the same, of a document that says so ──────┘         │
//	Get    ──▶ _mget: what was acknowledged ◀───────────────────────┤
//	List   ──▶ _refresh, then pages by key ◀────────────────────────┤
//	Watch  ──▶ _stats: which changes are settled; when there are some, _refresh and a range of _seq_no
//
// # Terms
//
//   - document: a record, or its tombstone. Its id is the key. A value that is a JSON object is
//     the document itself, with the member "reshelve" before its own; another value stands in
//     base64. Fields of work items (creatorId, leaseHolderId, expiration,
//     nextAcquisitionLeaseExponent, successorWorkItems, completedAt, index, shard, cursor, …)
//     can be searched for; other fields are kept and not looked at.
//   - revision: primary term and sequence number of the last change, and whether it
//     was a deletion; see positionOf.
//   - settled: a change that is on every copy in use, as are all with lower sequence numbers.
//   - tombstone: the document that a deletion leaves, for watches. Old ones are
//     removed by later deletions, behind the horizon.
//   - horizon: a document that says up to where deletions may be forgotten. A watch from before it is
//     fault.Stale.
//
// # Invariants
//
//  1. A change is one request with one condition, which the server checks; no scripts. The
//     server syncs its log before it answers, on every copy in use.
//  2. A value comes back byte for byte: it is cut out of the document, never encoded again. A document that
//     this package did not write is fault.Corrupt.
//  3. A watch reads up to what is settled, and no further, so that no change with a lower
//     number can appear behind it.
//  4. What the server did not answer (no connection, a time-out, 429, 5xx, an index blocked by full disks) is
//     fault.Unavailable: it may have happened. A missing index is that too, and never "no record". An
//     index that was made anew is fault.Corrupt when a change or a watch meets it.
//  5. A change is sent once (again only as package cluster does, when it was surely not applied), but: a Create that
//     meets a tombstone goes on with its revision, and a document that the server refuses is sent in base64.
//  6. Time is the leading server's, so that all who ask hear one clock; it does not go back behind the last
//     write when the store is opened.
//
// # What it takes
//
// The rights to read, write, create and monitor the index and to monitor the cluster.
// A server takes a value of some megabytes, and one of coord.MaxValue only with a large
// heap (it bounds a request by a tenth of it, newer ones by a fortieth); beyond, it answers 429.
// Values of 400 bytes, OpenSearch 2.19.0 with 512 MB of heap on two cores that were busy with other
// things (RESHELVE_MEASURE=1; requests and bytes are exact, times an upper bound):
//
//	                               requests   bytes     p50       p99
//	Create, Swap                   1          810       14–17 ms  73–87 ms
//	Delete                         1          270       10 ms     56 ms
//	Get; a swap that lost          1          810       1–2 ms    47 ms
//	Now                            1          64        1 ms      49 ms
//	Revision                       3          710       50 ms     185 ms
//	List of 100                    2          79 KB     32 ms     155 ms
//	List of 9,900                  6          7.8 MB    1.5 s     2.5 s
//	a look of a watch              1, or 4 when there are changes
//
// A read that meets a primary which the others have left, without knowing yet, may show a change that is taken
// back. No change can build on it: its condition names a term that is over.
//
// Absent on purpose: retrying changes of unknown outcome (the caller reads, and knows what to do), and a
// memory of deletions for ever.
package opensearch
