// Package door decides which HTTP requests reach a server at all, before anything of them is read.
//
//	connection ──▶ Host ──▶ origin ──▶ preflight ──▶ token ──▶ the handler
//	               421      403        204           401
//
// A server on loopback is reached by every page that a browser of this machine shows: by requests to its
// address, and, when the name of the page is made to mean this machine (DNS rebinding), by requests
// that the browser takes for the page's own. So a request is refused whose Host is no name of this
// server, and one that a page of another origin has caused, whatever its method: a GET makes work
// here too, and is refused with the same words.
//
// # Terms
//
//   - local: of a connection that no browser can make, through a file (a socket in a folder) or within
//     the process. It has no Host to check, and needs no token.
//   - origin: scheme, host and port of a page; "null" is that of many, and is never allowed.
//   - preflight: the OPTIONS request by which a browser asks whether a page of another origin may send
//     what it wants to (CORS).
//
// # Invariants
//
//  1. A name in Host is localhost, below localhost, or allowed. An address is one of loopback where the
//     connection is, and any address elsewhere: an address cannot be rebound.
//  2. What Sec-Fetch-Site or Origin tell to be of another origin, null too, is refused for every
//     method, unless the origin is allowed. A request with neither header passes: it is no browser's, as
//     those since 2020 send one of both with every request but some GETs, whose answers no page can read.
//  3. A request with the right token may have any Host: no page knows the token.
//  4. Allowed origins are told one by one, never by a wildcard, and Vary says so.
//  5. A refusal advises only what the process has: the flags that the policy names.
//
// Absent on purpose: TLS, users and rights; cookies, and so Access-Control-Allow-Credentials.
package door
