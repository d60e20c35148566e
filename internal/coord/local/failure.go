package local

import (
	"errors"
	"runtime/debug"

	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// guard turns what bbolt does about a file that changed under it, a panic or a fault
// of mapped memory, into fault.Corrupt.
func guard(use func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.New(fault.Corrupt, "the file cannot be read: %v", cause)
		}
	}()
	return use()
}

// explain gives an error from below its kind, place and next action.
func (s *Store) explain(err error) error {
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return coord.Closed()
	case fault.Is(err, fault.Corrupt):
		return damaged(s.path, err)
	case errors.As(err, &known), fault.KindOf(err) != fault.Bug: // a context's
		return err
	}
	err = fault.At(fault.Wrap(fault.Unavailable, err), s.path)
	return fault.WithNext(err, "look after the disk: when it is full, free space and try again")
}

func damaged(path string, err error) error {
	err = fault.At(fault.Wrap(fault.Corrupt, err), path)
	return fault.WithNext(err, "stop, keep a copy of the file, and restore it with the rest of its folder from a backup")
}

func inUse(path string) error {
	err := fault.At(fault.New(fault.Conflict, "another process serves this folder"), path)
	return fault.WithNext(err, "use that process by its address, or stop it")
}
