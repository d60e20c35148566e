package control

import (
	"os"
	"runtime/debug"
)

// besideHeap is how much of a process is not counted by Go, or comes while garbage is collected:
// the program itself, which is mapped (48 MiB), and what make bench-migrate has shown above the
// limit.
const besideHeap = 72 << 20

// keepBelow lets garbage be collected harder when the heap comes near so many bytes, unless
// GOMEMLIMIT says when.
func keepBelow(heap int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heap)
	}
}
