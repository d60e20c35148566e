package cli

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/reshelve/reshelve/fault"
)

// written gives a failed write to standard output its kind. That its reader went
// away is no failure: head and less do so when they have seen enough.
func written(err error) error {
	if err == nil || closedByReader(err) {
		return nil
	}
	return fault.At(fault.Wrap(fault.Unavailable, err), "standard output")
}

func closedByReader(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// keepsAll tells whether what was written stays as it was: in a file, or before
// the eyes of whom a terminal serves. What a pipe takes may be lost with its reader.
func keepsAll(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || isTerminal(w))
}
