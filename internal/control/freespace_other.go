//go:build !linux && !darwin && !freebsd

package control

// freeSpace is not told by these systems.
func freeSpace(string) (free int64, ok bool) { return 0, false }
