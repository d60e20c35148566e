//go:build unix

package control

import "syscall"

// mostFiles is how many files this process may have open, connections among them; 0: that has no limit, or it is not known.
func mostFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<30 {
		return 0
	}
	return int(limit.Cur)
}
