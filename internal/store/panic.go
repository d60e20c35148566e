package store

import (
	"fmt"
	"runtime/debug"

	"github.com/reshelve/reshelve/internal/fault"
)

// guarded does work in the background. Its panic, a bug of ours, is its error, and is
// logged with its stack: the requests that other people make go on.
func (s *Store) guarded(work string, do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.options.Logger.Error("work in the background failed by a bug in this program",
				"work", work, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			err = &panicked{fault.New(fault.Bug, "this is a bug in reshelve, see its log: %v", cause)}
		}
	}()
	return do()
}

// panicked is the error of work that has panicked: it has been logged, and would panic
// again if it were done again at once.
type panicked struct{ error }

func (p *panicked) Unwrap() error { return p.error }
