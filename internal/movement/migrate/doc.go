// Package migrate is the lane that moves the documents of a snapshot into a cluster:
// Reindex-from-Snapshot. Package worker gives it turns; any number of workers take part.
//
//	repository ─▶ snapshot ─▶ index ─▶ shard ─▶ positions [cursor, end)
//	                                               │ documents, in order
//	                                               ▼
//	                                            batches ─▶ cluster.Writer ─▶ target
//	                                               │              │ answers, in any order
//	movement/ID/item/… ◀── a heartbeat ── cursor ◀─┴── tracker ◀──┘
//
// # Terms
//
//   - plan: what is moved where: [Plan]. It is made once; where a snapshot is taken first, that
//     phase completes it.
//   - index entry: the piece of one index: create it on the target, or find it there.
//   - item: the piece of a range of positions of a shard; see package work.
//   - template: legacy, composable or component, of the snapshot's global state; made after the
//     indices, so that it adds nothing to them, but for those that data streams are made by.
//   - bare: an index as the body of the movement makes it, without the aliases and the final pipeline
//     that templates of the target have added; it is so until everything was compared.
//   - limits: how fast, and when, it may be; each process takes the share of its slots.
//   - look: what all records tell at one time; two of them tell a pace.
//   - delta: an index of which the target holds an older snapshot, that a movement brought. Its
//     pieces are changes, one for each shard: what both snapshots hold in the same files is
//     skipped, the rest compared, and what differs is sent or deleted.
//   - stream: a data stream that documents are appended to, one backing index after the other.
//   - to give way: of documents of several mapping types, which become one index, one of each place of the
//     target stays, the others give way: they are neither sent nor expected; see collapsed.
//   - failure: a document that the target refuses for good, listed with its cause.
//   - letter: the failures of one item, which redrive sends again one by one.
//   - mark: how far a part of a side (a shard of the snapshot, a slice of a scan of the
//     target) was read for a comparison.
//   - label: an entry in the _meta of the mapping of an index that a movement makes, which no index
//     has that somebody else makes.
//   - write alias: an alias of the movement's own, by which it sends documents to an index.
//   - claim: a note on the target that a movement which is recorded elsewhere writes to it.
//   - take: the snapshot that the movement takes of a cluster first.
//   - comparison of its own: a movement of kind movement.Comparison, whose only phase is verify. It makes
//     nothing on the target, has an empty ledger, and needs no right there but that to read.
//
// # Phases, and where to look
//
//	snapshot   the take, which completes the plan       snapshotting.go
//	metadata   templates that data streams need         phase_metadata.go, templates.go
//	indices    each is made, or found                   indices.go, making.go, label.go; the body: metadata.go;
//	                                                    streams: appending.go; what is written through: writealias.go;
//	                                                    what templates of the target add: bare.go
//	templates  all others                               phase_metadata.go, templates.go
//	items      each shard is cut                        items.go; of a delta: delta.go
//	documents  items are sent                           documents.go, copying.go, failures.go;
//	                                                    of a delta: deltaread.go, deltasend.go
//	refresh    settings are put back, and what was      reduce.go, closing.go
//	           copied is made searchable
//	verify     each index is compared                   checks.go, verify.go; one of them: compare.go,
//	                                                    its sides: reading.go, how far: keeping.go
//	aliases    made at one instant, beside what the     aliases.go, fitaliases.go
//	           target has of them
//	repair     what differs is sent again               repair.go, mending.go; what is too many is deleted: extra.go;
//	                                                    by what was compared before: sighted.go
//	redrive    what failed is tried again               redrive.go, resend.go
//	the end    the ledger is handed over, or undone     closing.go, undo.go
//
// lane.go gives turns to these. progress.go and rate.go say how far it is and how fast,
// hindrance.go what keeps it from its end; limits.go, sharing.go and hours.go hold it to how
// fast, and when, it may be.
//
// # Invariants
//
//  1. A document is sent as it is stored: its id, routing, source (or what the plan's
//     transformation makes of it), and the version that the snapshot holds, so that a repeat
//     changes nothing and never makes anything older. There are three exceptions: NoVersions
//     sends none; into a stream a document is created, or stays as it is; and what is sent with
//     care (see below) gets the version that follows what it replaces.
//  2. The cursor of an item is stored only up to where every document was acknowledged, was
//     found newer on the target, or stands in the list of failures.
//  3. What cannot be read fails the item, never a document in silence. An item is a part of
//     a segment, or of several, and sees no checksum of a file that it did not read to its
//     end: the comparison reads each shard to its end, checksums included, and a document
//     that a damaged file gave differs there.
//  4. The settings and mappings of an index, and a template, that are on the target already
//     are not changed, and neither is ever deleted; nor is what nothing proves to be the
//     movement's: a stream or a template whose entry of the ledger nobody has completed; an
//     index whose uuid is not that of its entry or, where nobody has completed that, without label.
//  5. A delta, a repair and a redrive leave what other clients wrote on the target, and name it; where
//     items of a copy are done again, versions decide, as in the copy. One exception, also named unless
//     the answer is lost: a document that is re-created by them in the moment in which another client
//     creates it. What other clients deleted stays deleted in a delta, and is named; a repair, which somebody orders
//     when a comparison has found it missing, brings it, unless the target remembers the deletion in a version
//     that is not lower. Where a movement before has ended without some documents (Since.Lacking), nothing
//     shows which of those that are missing were deleted: a delta brings them. A repair that is to overwrite, or to
//     delete what is too many (movement.Phase), replaces and deletes what others wrote, and of that only what the comparison
//     before it has seen, in that content and in that index (sighted.go): what came later is left, and named.
//  6. What a comparison says is true of one instant of the target, which it names
//     (Verified.AsOf): a point in time that lives as long as the comparison does, whoever goes
//     on with it. When the target has forgotten that, what was read of it is forgotten too.
//     Servers without points in time are read as they are when they are read. Where documents
//     are read without searching, searches have to find as many there, or it fails.
//  7. A mark is written down together with what was read before it, and with nothing else;
//     of the snapshot it is the end of a segment whose checksums were right.
//  8. What the movement makes stands in the ledger before it is made. Not in it are the aliases of the
//     snapshot, which go away with their indices, and the backing indices that are added to a stream
//     which was there. An index that was made is called so there when it is bare, and not before: until
//     then no document is sent to it.
//  9. No request that brings or deletes documents makes an index, whenever it comes: it names the write
//     alias, under whose name (it has a capital letter) no server makes one, and which abort and finish
//     take away. A data stream is written to by its own name, as it takes no alias; the plan warns where
//     the target would make it again.
//
// # Care
//
// A delta and a repair go where others may have written. beside.go sends for them: it looks at what the
// target has (cluster.Client.Look), and replaces or deletes that only where it is the movement's, on
// the condition that it is still the very write that was seen. In a delta that is the movement's which
// is, in content and routing, what the older snapshot held; in a repair of a whole copy, what the
// comparison saw; of what the target had refused, and a redrive sends again, nothing. What meets the condition no more is looked at again; what is others' is left, counted,
// and named (Other). A repeat of such a write, whenever it comes, meets its condition no more.
//
// Servers take no version beside a condition. What is replaced gets the version that follows the
// target's, which was at least that of the older snapshot, for that was brought in its own: so a late
// write of the older snapshot loses, as one of the same delta does. What is new, and nobody's late
// write, is created in version 1 with version_type external: nothing that is there, and no deletion
// that is remembered, has a lower one. What the older snapshot held, the target lacks, and a repair brings, has to
// come in a version above that one, with version_type external: a document that others create in the
// moment between the look and the write, in a lower version, is replaced then. The server says so (it
// answers 200 and not 201), and it is named. Where that answer was lost, the repeated request finds the
// document as it should be, and nothing tells any more whether something was there: it is named that
// perhaps it was replaced, and not when the version is 1, below which servers give none. Of an attempt that
// ended with its process nobody knows. The other choice was to lose to late writes without a word.
//
// Within a shard of the source an id is one document, so a delta knows documents by their ids alone:
// one that has another routing now is written there, and then deleted where it was, which finds
// nothing when both are one place of the target.
//
// # Keys
//
// Below movement/ID/, beside the ledger (package movement) and the items (package work); names
// in them are made safe by work.Safe. RUN is the key of a phase that may be done again.
//
//	phase/PHASE               a phase, or the part of it, that one worker does for all
//	index/INDEX               the piece of an index, of the source's name
//	template/KIND/NAME        what became of a template
//	change/INDEX__SHARD       the piece of a delta's shard
//	backing/INDEX             which index of a stream the documents go into
//	check/RUN/TARGET          the piece of a comparison, and its result
//	repair/RUN/TARGET         the piece of a repair, and its result
//	state/…/WORKER~N          how far a check or a repair (…) is: the piece names which N counts
//	seen/check/RUN/TARGET/…   what a check has found on the target that is not as the snapshot has it
//	redrive/RUN               how much was opened again
//	letter/RUN/ITEM           the piece of what is sent again of an item
//	failed/ITEM/FROM          the documents of a batch that failed, by cause
//	failure/ITEM/FROM         the same, one by one
//	former/PIECE              until when holders of a piece that was begun anew may have sent
//	share/PROCESS             how many slots of a process send
//	plan/completed            the plan, when the snapshot has been taken
//
// On a target on which other movements may be recorded, claims/ID is the claim of one that is
// recorded elsewhere; see [Claim].
//
// # Comparisons
//
// One slot compares an index. It reads several parts of both sides at once: up to 8 in a
// process, of all comparisons that go on there.
//
// A first pass sums both sides in buckets. While the buckets that differ hold too many
// documents, passes in finer buckets follow; then come up to 4 that compare 250,000 documents
// each one by one (see package reconcile). So both sides are read at most 8 times, and once
// when they are equal. What is unequal beyond that is told as what was not compared one by
// one, with how many are missing at least; it holds the movement as a difference does.
//
// How far it is, is written down every 30 seconds at most, and when a lease is handed over; it
// takes up to 10 MB. Whoever takes over goes on there: a lease may be shorter than the
// comparison, and an attempt counts only when nothing more was read in it. So one segment has
// to be read within the longest lease that the attempts reach; where the server has no points
// in time (Elasticsearch before 7.12, OpenSearch before 2.4), one index.
//
// A repair is the same comparison, with one pass that compares one by one, and then reads the
// snapshot once more: it sends what was found missing, stale or different, and what was not
// compared one by one.
//
// Absent on purpose: a condition on the deletion of an index. Servers delete by name alone, so that abort looks at
// the index's uuid and label first; what somebody else puts under that name within the time of that one request is
// deleted. Nor are here reading (snapshot), sending (cluster), translating metadata (translate),
// comparing (reconcile).
package migrate
