// Package cluster speaks to a document store over HTTP: OpenSearch,
// Elasticsearch, or Reshelve's own.
//
//	Client.Do ──▶ method, path, parameters, body ──▶ answer, or an exception with its kind
//
// # Invariants
//
//  1. An answer that is no success is an error whose type, reason and kind are the
//     other side's; what is not its dialect is fault.Unavailable, with the status.
//  2. An answer is read up to a limit, and never in part: a longer one is an error.
//
// Absent on purpose: retrying, bulk requests and scans, which come with the lane
// that needs them, and credentials.
package cluster
