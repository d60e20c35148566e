// Package egress checks the addresses that connections are made to, when they are made.
//
// A location names a host; what the host means is decided by whoever answers for its name, anew for each
// connection. So the check is of the address that is dialled, after the name was resolved.
//
// # Invariants
//
//  1. A name never leads to an address of this network segment alone (link-local: the metadata of clouds, with
//     the credentials of the machine, are there), to the metadata address of a cloud elsewhere, or to no host at all. Who
//     means such an address writes the address.
//  2. To a wary dialer a name leads to loopback only when it is localhost, or below it.
//  3. Where a proxy of the environment connects, the same holds of what the name leads to here, at most
//     some seconds before; a name that a wary client cannot look up here is not handed to a proxy.
//
// Absent on purpose: which hosts may be named at all (package control), and what a name leads to at a
// proxy: it resolves the name again, and has to refuse addresses itself.
package egress
