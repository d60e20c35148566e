//go:build unix

package embedded

import (
	"io"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mapFile gives the bytes of a file, which is not changed as long as they are used. A
// file of a real disk is mapped: what is read of it is the system's cache, and can be
// given back at any time. Another is read.
func mapFile(f vfs.File, size int) (data []byte, unmap func(), err error) {
	if f.Fd() == vfs.InvalidFd || size == 0 {
		data = make([]byte, size)
		_, err = io.ReadFull(f, data)
		return data, func() {}, err
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() { _ = syscall.Munmap(data) }, nil // fails for what was not mapped alone
}
