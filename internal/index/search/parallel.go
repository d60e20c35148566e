package search

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// A search shares its work with processors that no search uses. The work is its views, and the
// segments in which terms are looked up: pieces, which its goroutine and helpers take one after the
// other. The result is the same for any number of goroutines. A helper needs a while to begin, more
// than 100 µs on a processor that has to be woken, so that a search begins alone and takes helpers
// when it has seen that the rest will take longer.

// working is how many goroutines work for all searches of the process.
var working atomic.Int64

// processors is how many the process may use. A variable for tests.
var processors = func() int { return runtime.GOMAXPROCS(0) }

// minDocs is how many docs pieces have for which helpers pay off at once.
const minDocs = 1 << 14

// Helpers begin when the caller has worked for so long and the rest would take it so long. Variables
// for tests.
var (
	aloneAtLeast = 50 * time.Microsecond
	restAtLeast  = 250 * time.Microsecond
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

// helping says which helpers a job may have.
type helping struct {
	most int  // how many
	now  bool // they begin at once; else when the job has turned out to be long
}

// usefulHelpers are those for n pieces of work that have about so many docs.
func usefulHelpers(n, docs int) helping {
	return helping{most: n - 1, now: docs >= minDocs*n}
}

// inParallel does n pieces of work on the caller's goroutine and on others that help. Each goroutine
// works with a function of its own, which newWorker makes on the goroutine of the caller; the number of
// the caller's is 0. The error is that of the first piece that failed: all pieces before it are done.
func inParallel(n int, help helping, newWorker func(number int) (do func(piece int) error)) error {
	j := &job{pieces: n}
	j.helperDone.L = &j.mu
	reserved := 0
	defer func() { working.Add(-int64(reserved)) }()
	defer j.close() // also when the caller's own work panics: what helpers read is closed after it
	begin := func() {
		reserved = reserveHelpers(help.most)
		for i := range reserved {
			go j.help(newWorker(i + 1))
		}
	}
	do := newWorker(0)
	switch {
	case help.now:
		begin()
	case help.most > 0:
		do = j.watched(do, begin)
	}
	j.work(do)
	j.close()
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

// watched does pieces, and calls long once when it is seen that the rest of them will take long.
func (j *job) watched(do func(piece int) error, long func()) func(piece int) error {
	begun, done, called := time.Now(), 0, false
	return func(piece int) error {
		err := do(piece)
		if done++; called || done%4 > 0 && done > 4 { // reading the clock is not free
			return err
		}
		took := time.Since(begun)
		rest := time.Duration(j.pieces-done) * (took / time.Duration(done))
		if called = took >= aloneAtLeast && rest >= restAtLeast; called {
			long()
		}
		return err
	}
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
