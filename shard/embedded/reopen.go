package embedded

import (
	"time"

	"github.com/reshelve/reshelve/fault"
)

// failing is called by a seal, once, from inside Pebble: it must not wait. Everything
// after it is done by mend.
func (e *Engine) failing(cause error) {
	e.options.Logger.Error("store: a failure stops writes; the folder will be opened again", "folder", e.dir, "cause", cause)
	e.fail(cause)
	e.space.soon()
	select {
	case e.broke <- cause:
	default: // one is waiting already
	}
}

// fail makes cause the reason why writes are refused; other tells whether it was another before.
func (e *Engine) fail(cause error) (other bool) {
	err := fault.At(fault.WithNext(fault.New(fault.Unavailable, "a write failed: %w", cause),
		"free space on the disk, or see to its failure; the folder is opened again by itself"), e.dir)
	before := e.failure.Swap(&err)
	return before == nil || (*before).Error() != err.Error()
}

// retryEvery is how long lies between two tries to open the folder again.
var retryEvery = time.Second // tests have less patience

// mend waits for failures and opens the folder again after each. It runs from Open
// to Close.
func (e *Engine) mend() {
	defer e.work.Done()
	for {
		select {
		case <-e.stop:
			return
		case cause := <-e.broke:
			e.breakMarks(cause)
		}
		for !e.reopen() {
			select {
			case <-e.stop:
				return
			case <-time.After(retryEvery):
			}
		}
	}
}

// breakMarks tells those who wait for a sync that it will not come.
func (e *Engine) breakMarks(cause error) {
	for _, s := range e.open() {
		s.mark.fail(cause)
	}
}

// open are the open shards.
func (e *Engine) open() []*local {
	e.mu.Lock()
	defer e.mu.Unlock()
	var open []*local
	for _, s := range e.shards {
		open = append(open, s)
	}
	return open
}

// reopen replaces Pebble once there is space, and takes the shards along: what their
// writers were told to be unknown may be gone, and readers end. It reports whether
// writes are taken again.
func (e *Engine) reopen() bool {
	if e.space.look().ReadOnly != nil {
		return false // what is open can still be read
	}
	e.turn.Lock() // no shard is opened meanwhile
	defer e.turn.Unlock()
	shards := e.open()
	for _, s := range shards {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	e.life.Lock()
	defer e.life.Unlock()
	if err := e.replace(shards); err != nil {
		if e.fail(err) { // it is tried each second, and told once
			e.options.Logger.Error("store: the folder cannot be opened again", "folder", e.dir, "cause", err)
		}
		return false
	}
	if e.db.readOnly {
		return false
	}
	e.failure.Store(nil)
	e.options.Logger.Info("store: the folder is open again", "folder", e.dir)
	return true
}

// replace closes Pebble and opens it again, for reading alone when it cannot be
// written. All locks are held.
func (e *Engine) replace(shards []*local) error {
	for _, s := range shards {
		for v := range s.views {
			_ = v.end()
		}
	}
	if e.db != nil {
		_ = e.db.close() // whatever it says: the disk tells what is there
		e.db = nil
	}
	db, err := e.openStore(false)
	if err != nil {
		if db, _ = e.openStore(true); db == nil {
			return opening(err)
		}
		e.fail(err)
	}
	e.db = db
	e.stagedMasks.reset()
	for _, s := range shards {
		if err := s.again(db); err != nil {
			return err
		}
	}
	return nil
}

// again takes a shard's state from a Pebble that was opened again. The mutex is held.
func (s *local) again(db *store) error {
	if s.gone {
		return nil
	}
	placed := s.gate.now()
	from, taken, err := s.takeUp(db, placed.Term) // again: that it was is not synced
	if err == nil {
		err = s.read(from)
	}
	if err != nil {
		return err
	}
	if taken > 0 {
		s.state.within = placed.Range
	}
	return s.showAll(db)
}
