//go:build !unix

package embedded

import (
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mapFile gives the bytes of a file by reading it.
func mapFile(f vfs.File, size int) (data []byte, unmap func(), err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, func() {}, err
}
