// Package door decides which HTTP requests reach a server at all, before their bodies are read.
//
//	connection ──▶ Host ──▶ origin ──▶ preflight ──▶ token ──▶ the handler
//	               421      403        204           401
//
// Every page in a browser of this machine can reach a server on loopback: by requests to its address, and,
// when the name of the page is made to resolve to this machine (DNS rebinding), by requests that the
// browser takes for same-origin ones. So a request is refused when its Host is not a name of this server,
// and when a page of another origin has caused it. The latter holds for every method: a GET, too, makes
// the server work.
//
// # Terms
//
//   - local: over a connection that no browser can make: a socket in a folder, or a pipe within the
//     process. Its Host is not checked, and it needs no token.
//   - origin: scheme, host and port of a page; many pages have "null", which is never allowed.
//   - preflight: the OPTIONS request by which a browser asks whether a page of another origin may send
//     what it wants to (CORS).
//
// # Invariants
//
//  1. A name in Host must be localhost, below localhost, or allowed. An address must be one of loopback
//     where the connection ends at one, and may be any elsewhere: an address cannot be rebound.
//  2. A request whose Sec-Fetch-Site or Origin names another origin, null included, is refused for every
//     method, unless the origin is allowed. A request with neither header passes, because it does not come
//     from a browser: those since 2020 send one of the two with every request, except with some GETs whose
//     answers no page can read.
//  3. A request with the right token may have any Host: no page knows the token.
//  4. Access-Control-Allow-Origin names one allowed origin, never a wildcard, and Vary names Origin.
//  5. A refusal advises only what the process has: the flags that the policy names.
//
// Absent on purpose: TLS, users and rights; cookies, and so Access-Control-Allow-Credentials.
package door
