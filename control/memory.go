package control

import (
	"os"
	"runtime/debug"
)

// besideHeap is how much of a process is not counted by Go, or comes while garbage is collected:
// the program itself, which is mapped (48 MiB), and what is measured above the limit then.
const besideHeap = 72 << 20

// keepBelow lets garbage be collected harder when the heap comes near so many bytes. Who sets
// GOMEMLIMIT has decided on that already.
func keepBelow(heap int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heap)
	}
}
