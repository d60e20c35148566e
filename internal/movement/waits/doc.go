// Package waits gathers what work waits for: requests that failed and are sent again.
//
// The process that starts work makes a [Board] and gives the work a context of it. The clients that send
// requests again, far below, begin [Tries] with that context, and say of each failure why, and how long they
// pause. So a cause is seen wherever it arises, and no floor between has to pass it on.
//
// # Terms
//
//   - tries: one thing that is tried until it works, or is given up.
//   - wait: why tries have not worked yet, since when, and when the next one comes.
//
// # Invariants
//
//  1. Of what works at the first try nothing is kept.
//  2. A wait ends with the try that works. After tries were given up it is shown for [Lingers] more: tries
//     that follow and fail for the same cause continue it.
//  3. Tries without a board cost nothing.
//
// Absent on purpose: how long, and how often, is tried (cluster, blob, drive), and where the waits of a process
// are written down (worker).
package waits
