package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"unsafe"
)

// forgetPeak gives back what memory it can and forgets the peak until now, because a child's peak begins with that of its
// parent (proc_pid_clear_refs(5)). Where that is refused, the peaks printed are only never too low.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// bytesReadAtExit waits until the process has ended, leaves it to be waited for, and returns the bytes that its read calls
// returned in all: the field rchar of proc_pid_io(5), which stays readable until then. 0 when it cannot be read.
func bytesReadAtExit(pid int) int64 {
	const byPID = 1    // P_PID of waitid(2)
	var info [128]byte // siginfo_t, which nobody looks at
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), uintptr(unsafe.Pointer(&info[0])),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte("rchar: ")); found {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return n
		}
	}
	return 0
}
