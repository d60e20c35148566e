// Package control is what the faces of Reshelve call: one typed call per verb.
// It checks the request, decides what is allowed, and answers with a struct whose
// JSON is the documented output of the command line's --output json.
//
//	cli ──▶ Control.List      Listing          the snapshots of a repository
//	        Control.Inspect   Inspection       what one snapshot holds
//	        Control.Read      Documents        a stream over its documents
//	        Control.Verify    Verification     every file checked
//	        Control.Estimate  Estimate         what a read would cost
//	        Control.Serve     Serving          a data folder over HTTP, until told to stop
//	        Control.ListIndices, CreateIndex, DeleteIndex, StatIndices
//	                                           the indices of a store, wherever it is
//	        Control.Preview   Preview          what a migration would do, and what forbids it
//	        Control.Migrate   Movement         plans a migration, and works for it to its end
//	        Control.Compare   Movement         compares a snapshot with a target, and moves nothing
//	        Control.Work                       works for all movements of a place
//	        Control.PreviewReshape             what a split or a merge would do
//	        Control.Reshape   Movement         plans one and starts it, where the store is open
//	        Control.Placement PlacementStatus          the shards of an index, and who owns what
//	        Control.Movements, Movement, Watch, Failures
//	                                           what a place records of movements
//	        Control.Tell, Throttle             orders to one
//	gateway ▶ Store                            the store that is served
//	          MovementService                             the movements of one place, and orders to them
//
// # Terms
//
//   - selection: the indices of a snapshot that the patterns of a request name,
//     ordered by the bytes of their names.
//
//   - pattern: an index name in which * stands for any characters.
//
//   - place: where the indices or the movements are that a verb is about: the URL of a
//     cluster, or a data folder, in place or through the process that serves it.
//
//   - side: the target of a movement, as its client and the coordination store that goes
//     with it; see [side].
//
//   - note: something that a pass met and its caller should tell people, but
//     that is no document and no error; see [Watch].
//
//   - movement service: takes orders for movements in the process that has a store open, and works for
//     those that it began; splits and merges are planned there alone. See [MovementService].
//
// # Invariants
//
//  1. What a request forbids is refused before the first document.
//  2. Names in JSON are stable: they are added, never renamed. Sizes are bytes,
//     times RFC 3339 in UTC, durations milliseconds, but for those of a policy of leases
//     (nanoseconds), what a preview expects (seconds), and pauses of hand-offs (nanoseconds).
//  3. In the signatures of verbs nothing of the floors below appears but the words of
//     packages document and fault, of movement (states, verbs, records), of work (the
//     policy of leases), of migrate (plans, progress, limits), and of placement and reshard
//     (plans of shards, and how far those are), so that a terminal needs no other import.
//     [Store] speaks the vocabularies of package store.
//  4. A location that a record or an order by HTTP names is opened, and gets credentials, only if the operator of
//     the process has allowed it: a bound Control does what they ask for, and checks each location where it is
//     opened (permits.go).
//  5. A document is yielded, or it is counted and told to the [Watch]; none is
//     dropped in silence.
//
// # Where to look
//
//	reading a snapshot       read.go, documents.go, ahead.go; list.go, inspect.go, verify.go, estimate.go
//	the indices of a store   indices.go, counts.go; place.go: which store, and how it is reached
//	serving                  serve.go, listen.go, doors.go: which requests are accepted; socket.go,
//	                         health.go, successor.go
//	planning a migration     plan.go, delta.go, taking.go, rename.go; plan_checks.go: what forbids it;
//	                         preview.go: all of that for people
//	what it may open         permits.go, access.go
//	where movements meet     side.go, coordination.go, conflict.go
//	comparing alone          compare.go, compare_checks.go; once more what has finished: compare_again.go
//	one movement             movement.go: verbs, movement_repair.go; movements_look.go: how far it is, and how fast;
//	                         movement_service.go: orders where a store is open
//	splits and merges        reshape.go: plan and begin; reshape_weigh.go: where the documents lie;
//	                         reshape_pause.go: how long requests will wait;
//	                         reshape_place.go: placement; reshape_reach.go: the same from elsewhere;
//	                         reshape_told.go: how far one is
//
// Absent on purpose: flags, tables and terminals (package cli), and which stores
// exist (the caller of [New] brings the openers).
package control
