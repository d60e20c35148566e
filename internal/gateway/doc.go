// Package gateway speaks the HTTP API of OpenSearch 2.19 in front of a store, so
// that the clients and tools of that server work unchanged.
//
//	request ──▶ limits ──▶ routes ──▶ parameters ──▶ handler ──▶ answer ──▶ response
//	            429, 413   400, 405    400            error       pretty, yaml, filter_path, gzip
//
// # Terms
//
//   - route: methods, a pattern such as /{index}/_doc/{id}, the parameters that
//     are known there, and a handler; see the tables called …Routes.
//   - call: one request with everything that was read out of it, and its answer.
//     A handler answers once, or returns an error, which is told as the server does.
//   - answer: JSON appended to the call's buffer. What a client may ask of every
//     answer (pretty, format=yaml, filter_path, gzip) is made out of it in one
//     place; a plain answer goes out as it was appended.
//
// # Invariants
//
//  1. An unknown parameter, a body that is not understood, a method that a path
//     does not take: refused, with the server's status and words.
//  2. Nothing grows with what a client sends beyond its limits: see [Options].
//     What is over a limit is refused, and nothing waits in a queue without end.
//  3. Sources go in and come out byte for byte, unless the client asks for a part
//     of them or for another format.
//  4. A call holds no memory of another: buffers are reused, never shared.
//
// Beside that API there is our own, below /_reshelve: the rows of points in time, for who reads
// all of an index. A server may offer more there: the records of movements ([Offer]), and orders
// for movements, with their metrics and an OpenAPI description ([OfferMovements]).
//
// Absent on purpose: what requests mean (package store), their JSON as trees (package
// query), names (package catalog), TLS and authentication, answers in CBOR and SMILE
// (bodies in them are read), scripts, and ingest pipelines.
package gateway
