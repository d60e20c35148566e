package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// written gives a failed write to standard output its kind. That its reader went
// away is no failure: head and less do so when they have seen enough.
func written(err error) error {
	if err == nil || closedByReader(err) {
		return nil
	}
	cause := err
	var place *fs.PathError
	if errors.As(err, &place) {
		cause = place.Err
	}
	err = fault.At(fault.New(fault.Unavailable, "cannot write: %w", cause), "standard output")
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EDQUOT) {
		err = fault.WithNext(err, "free space, then run it again")
	}
	return err
}

// pages is the standard output for cobra's own pages. Cobra calls a failed write
// wrong usage, or ignores it; so the first one is kept here, and cobra not told.
type pages struct {
	out io.Writer
	err error
}

func (p *pages) Write(text []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.out.Write(text)
	}
	return len(text), nil
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

// interruptedToo tells whether the reader of a pipe went away because people
// stopped the whole pipe. The news of its end may come before the signal does.
func interruptedToo(ctx context.Context) error {
	const signalLag = 50 * time.Millisecond
	select {
	case <-ctx.Done():
	case <-time.After(signalLag):
	}
	return ctx.Err()
}
