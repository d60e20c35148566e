// Package remote is the coordination store that another process offers by HTTP, and
// that process's side of it.
//
//	Store (coord.Store) ──▶ HTTP below /_reshelve/coord ──▶ Handler ──▶ the coord.Store of that process
//
// # Protocol
//
// Version 1. Keys and prefixes are parameters; values are bodies, byte for byte.
//
//	GET    /_reshelve/coord                          {"protocol":1}
//	GET    /_reshelve/coord/record?key=K             the value; its revision in the header Reshelve-Revision
//	PUT    /_reshelve/coord/record?key=K             If-None-Match: * creates, If-Match: "R" swaps; Reshelve-Revision
//	DELETE /_reshelve/coord/record?key=K             If-Match: "R"
//	GET    /_reshelve/coord/records?prefix=P         lines: {"key":"K","revision":R,"value":"base64"}, then {"end":N}
//	GET    /_reshelve/coord/watch?prefix=P&after=R   lines as they come; {"key":"K","revision":R,"deleted":true};
//	                                                 empty ones as signs of life; an error as the last
//	GET    /_reshelve/coord/revision                 {"revision":R}
//	GET    /_reshelve/coord/time                     {"at":"…","error":nanoseconds}
//
// Errors are problem details (RFC 9457) with the members kind, as package fault names
// it, and next; in lines, {"problem":{…}}.
//
// # Invariants
//
//  1. A Store keeps what the store behind the Handler keeps, but for a change that was not answered, which is
//     fault.Unavailable.
//  2. A list is that of one List there, whole or an error: it ends with the number of its records.
//  3. A watch that hears nothing for Silence is over, with fault.Unavailable; the other side gives signs of
//     life three times as often.
//  4. A change is sent once. A body that did not arrive whole changes nothing.
//  5. The Handler bounds the bodies that it holds and the watches that it serves.
//
// Every call is one request, of the value and about 100 bytes. Values of 400 bytes, in front of package local on two
// cores that were busy with other things (RESHELVE_MEASURE=1), p50 and p99: Create and Swap 0.5 and 36 ms, Get 0.06 and 0.3 ms, List of 100
// 1 and 64 ms (59 KB), List of 9,900 0.3 and 0.6 s (5.9 MB), from a swap to the watch that tells it 13 and 24 ms.
//
// Absent on purpose: authentication and TLS, which are the server's in front of the Handler, and pages: a
// list is streamed, and a page would need a snapshot that outlives a request.
package remote
