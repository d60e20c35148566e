package segment

import (
	"errors"
	"runtime"
	"runtime/debug"

	"github.com/reshelve/reshelve/internal/fault"
)

// Damaged is the error of a file that is not as it was written: of fault.Corrupt.
type Damaged struct{ cause error }

// Error tells what is wrong, and where.
func (d *Damaged) Error() string { return d.cause.Error() }

// Unwrap gives the cause, which has a kind.
func (d *Damaged) Unwrap() error { return d.cause }

func damaged(format string, args ...any) *Damaged {
	return &Damaged{fault.New(fault.Corrupt, format, args...)}
}

// Guard calls do, and gives the panic of a damaged page as the error *Damaged. Faults of
// a mapped file, which the system raises when the file is shorter than its map or the
// disk cannot be read, count as damage. It guards the goroutine that it is called on.
func Guard(do func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		switch p := recover().(type) {
		case nil:
		case *Damaged:
			err = p
		case runtime.Error:
			var at interface{ Addr() uintptr } // what a fault of memory has, and nothing else
			if !errors.As(p, &at) {
				panic(p)
			}
			err = damaged("a mapped segment cannot be read: %v", p)
		default:
			panic(p)
		}
	}()
	return do()
}
