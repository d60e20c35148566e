// Package egress checks the addresses that connections are made to, when they are made.
//
// A location names a host; the owner of that name decides which address it resolves to, for each connection
// anew. So the check is made on the address that is dialled, after the name was resolved.
//
// # Invariants
//
//  1. A connection to a name is never made to a link-local address (where the metadata of clouds are, with the
//     credentials of the machine), to the metadata address of a cloud elsewhere, or to an address of no host. To
//     use such an address, the operator writes the address in place of a name.
//  2. A wary dialer connects to loopback only for the name localhost, and names below it.
//  3. With a proxy of the environment, the same holds for the addresses that the name resolved to here, at most
//     some seconds before; a name that a wary client cannot resolve here is not given to a proxy.
//
// Absent on purpose: which hosts may be named at all (package control), and the addresses that a
// proxy connects to: it resolves the name again, and has to check them itself.
package egress
