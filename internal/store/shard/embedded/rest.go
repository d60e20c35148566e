package embedded

import (
	"runtime/debug"
	"time"
)

const (
	restedWell = 4       // quiet times after which memory is given back
	worthwhile = 1000    // requests that make memory which is worth it
	keptCache  = 4 << 20 // bytes of cached blocks that stay
)

// busy notes requests, and arms the rest that follows them.
func (e *Engine) busy(n int64, wrote bool) {
	e.requests.Add(n)
	if wrote && !e.dirty.Load() {
		e.dirty.Store(true)
	}
	if e.options.Quiet >= 0 && !e.armed.Load() && e.armed.CompareAndSwap(false, true) {
		e.work.Add(1)
		go e.rest()
	}
}

// rest waits until nothing has been asked for a while. Then it writes out what is only
// in the log, and segments that are only in memory, so that the next opening is quick even
// after a kill. After another while it gives memory back.
func (e *Engine) rest() {
	defer e.work.Done()
	for rested := 0; rested < restedWell; {
		seen := e.requests.Load()
		select {
		case <-e.stop:
			return
		case <-time.After(e.options.Quiet):
		}
		if e.requests.Load() != seen {
			rested = 0
			continue
		}
		if rested++; e.dirty.Swap(false) {
			e.writeOut()
			for _, s := range e.open() {
				if s.segments != nil {
					s.segments.ring() // a commit is due
				}
			}
		}
	}
	e.armed.Store(false)
	if e.requests.Swap(0) >= worthwhile {
		e.giveBack()
	}
}

// giveBack makes the process small again.
func (e *Engine) giveBack() {
	e.makers.forget()
	if db, done, err := e.use(); err == nil {
		db.shrink(e.options.Memory, keptCache)
		done()
	}
	debug.FreeOSMemory()
}

// writeOut waits until what is in the log is in files too. It reports false when it
// is not, because the disk fails or the engine ends.
func (e *Engine) writeOut() bool {
	if e.failure.Load() != nil {
		return false
	}
	db, done, err := e.use()
	if err != nil {
		return false
	}
	flushed, sealed := db.flush(), db.seal.done
	done() // a failing disk may flush for long, and must be replaceable meanwhile
	select {
	case <-flushed:
		return true
	case <-sealed:
	case <-e.stop:
	}
	return false
}
