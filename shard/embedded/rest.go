package embedded

import (
	"runtime/debug"
	"time"
)

// wrote arms the rest that follows writing.
func (e *Engine) wrote() {
	if e.options.Quiet < 0 {
		return
	}
	e.lastWrite.Store(time.Now().UnixNano())
	if e.armed.CompareAndSwap(false, true) {
		e.work.Add(1)
		go e.rest()
	}
}

// rest waits until nothing has been written for a while. Then it writes out what is
// only in the log, so that the next opening is quick even after a kill, and gives
// memory back.
func (e *Engine) rest() {
	defer e.work.Done()
	for {
		left := e.options.Quiet - time.Since(time.Unix(0, e.lastWrite.Load()))
		if left <= 0 {
			break
		}
		select {
		case <-e.stop:
			return
		case <-time.After(left):
		}
	}
	e.armed.Store(false)
	if e.refusal() != nil {
		return
	}
	db, done, err := e.use()
	if err != nil {
		return
	}
	flushed, sealed := db.flush(), db.seal.done
	done() // a failing disk may flush for long, and must be replaceable meanwhile
	select {
	case <-flushed:
		debug.FreeOSMemory()
	case <-sealed:
	case <-e.stop:
	}
}
