package search

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/reshelve/reshelve/segment"
)

// A search shares its work with processors that no search uses. The work is its views, and the
// segments in which terms are looked up: pieces, which its goroutine and helpers take one after the
// other. The result is the same for any number of goroutines.

// working is how many goroutines work for all searches of the process.
var working atomic.Int64

// processors is how many the process may use. A variable for tests.
var processors = func() int { return runtime.GOMAXPROCS(0) }

// Helpers pay off from so many pieces of work on, or for two pieces that have so many docs together.
const (
	minPieces = 8
	minDocs   = 1 << 15
)

// reserveHelpers counts up to so many helpers as working, as far as processors are free, and returns
// how many. The caller subtracts them from working again.
func reserveHelpers(most int) int {
	for {
		now := working.Load()
		n := min(int64(most), int64(processors())-now)
		if n <= 0 {
			return 0
		}
		if working.CompareAndSwap(now, now+n) {
			return int(n)
		}
	}
}

// job is pieces of work that several goroutines do, each piece once, in ascending order.
type job struct {
	pieces  int
	next    atomic.Int64 // the first piece that nobody has taken
	stopped atomic.Bool  // no more pieces are taken

	mu         sync.Mutex
	helperDone sync.Cond
	helping    int  // helpers at work
	closed     bool // no helper may begin any more
	err        error
	failed     int // the piece that err is of
	panicked   any // the panic of a helper
}

// usefulHelpers is how many goroutines may help with n pieces of work that have about so many docs.
func usefulHelpers(n, docs int) int {
	if n >= minPieces || n > 1 && docs >= minDocs {
		return n - 1
	}
	return 0
}

// inParallel does n pieces of work on the caller's goroutine and on up to help others. Each goroutine
// works with a function of its own, which newWorker makes on the goroutine of the caller; the number of
// the caller's is 0. The error is that of the first piece that failed: all pieces before it are done.
func inParallel(n, help int, newWorker func(number int) (do func(piece int) error)) error {
	j, reserved := &job{pieces: n}, reserveHelpers(help)
	j.helperDone.L = &j.mu
	defer working.Add(-int64(reserved))
	defer j.close() // also when the caller's own work panics: what helpers read is closed after it
	for i := range reserved {
		go j.help(newWorker(i + 1))
	}
	j.work(newWorker(0))
	j.close()
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

// close ends the taking of pieces, and waits for the helpers that have begun. A helper that has not
// begun, because no processor was free, does nothing.
func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.stopped.Store(true)
	for j.helping > 0 {
		j.helperDone.Wait()
	}
}

// help works on the goroutine of a helper. Its panic becomes that of the caller.
func (j *job) help(do func(piece int) error) {
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.helping++
	}
	j.mu.Unlock()
	if closed {
		return
	}
	defer func() {
		p := recover()
		j.mu.Lock()
		defer j.mu.Unlock()
		if p != nil {
			j.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			j.stopped.Store(true)
		}
		j.helping--
		j.helperDone.Broadcast()
	}()
	j.work(do)
}

// work takes pieces and does them until none is left or one has failed.
func (j *job) work(do func(piece int) error) {
	at := 0
	err := segment.Guard(func() error {
		for !j.stopped.Load() {
			if at = int(j.next.Add(1)) - 1; at >= j.pieces {
				return nil
			}
			if err := do(at); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	j.stopped.Store(true)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil || at < j.failed {
		j.err, j.failed = err, at
	}
}
