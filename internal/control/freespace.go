//go:build linux || darwin || freebsd

package control

import (
	"path/filepath"
	"syscall"
)

// freeSpace is how much may be written below a folder, which need not be there yet; ok is
// false when that cannot be told.
func freeSpace(folder string) (free int64, ok bool) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return 0, false
	}
	for {
		var disk syscall.Statfs_t
		if err := syscall.Statfs(folder, &disk); err == nil {
			return int64(disk.Bavail) * int64(disk.Bsize), true //nolint:gosec,unconvert // the types differ between systems
		}
		above := filepath.Dir(folder)
		if above == folder {
			return 0, false
		}
		folder = above
	}
}
