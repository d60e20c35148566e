package control

import (
	"os"
	"runtime/debug"
)

// besideHeap is how much of a process is not counted by Go, or comes while garbage is collected:
// the program itself, which is mapped (48 MiB), and what make bench-migrate has shown above the
// limit.
const besideHeap = 72 << 20

// itemPart is the part of the memory that one document may have: on its way to the log and into
// a segment there are five or more of it.
const itemPart = 16

// keepBelow lets garbage be collected harder when the heap comes near so many bytes, unless
// GOMEMLIMIT says when.
func keepBelow(heap int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heap)
	}
}
