// Package exception gives an error the shape in which OpenSearch tells it to
// its clients: a type, a reason, a few named values, and the exception that
// caused it.
//
// The data API of the store speaks this dialect, and only there is it needed:
// everything else of Reshelve speaks package fault. An exception is an error of
// that package too: its [Type] decides the HTTP status here and the kind there.
//
//	exception.New(exception.IndexNotFound, "no such index [%s]", name).
//		With("index", name).With("index_uuid", "_na_")
//
//	{"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [x]",
//	  "index":"x","index_uuid":"_na_"}],"type":…,"reason":…,…},"status":404}
//
// # Terms
//
//   - type: the snake-case name of the server's exception class.
//   - plain: a type that the server takes from Java's library and not from its own
//     tree. A plain exception is never a root cause of one that is not plain.
//
// # Invariants
//
//  1. Each type has one row in [Types]: its HTTP status and its kind.
//  2. Types, reasons and named values are those that OpenSearch 2.19 gives; tests
//     elsewhere compare them with a real server.
//  3. Any error can be told: [From] gives one without a type the type of its kind.
//
// Absent on purpose: stack traces, and headers (package gateway sets them).
package exception
