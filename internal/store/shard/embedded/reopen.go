package embedded

import (
	"time"

	"github.com/reshelve/reshelve/internal/fault"
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
		var again <-chan time.Time
		if len(e.unopened()) > 0 {
			again = time.After(retryEvery)
		}
		select {
		case <-e.stop:
			return
		case <-again:
			e.openAgain(e.unopened())
			continue
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
		for _, s := range e.open() {
			s.upkeep()
		}
	}
}

// unopened are the shards that could not be opened again with the folder.
func (e *Engine) unopened() (shards []*local) {
	for _, s := range e.open() {
		s.mu.Lock()
		if s.unopened != nil && !s.gone {
			shards = append(shards, s)
		}
		s.mu.Unlock()
	}
	return shards
}

// openAgain tries to open shards that could not be opened with the folder.
func (e *Engine) openAgain(shards []*local) {
	e.turn.Lock()
	defer e.turn.Unlock()
	for _, s := range shards {
		s.mu.Lock()
		if db, done, err := e.use(); err == nil {
			s.again(db)
			done()
		}
		opened := s.unopened == nil
		s.mu.Unlock()
		if opened {
			s.upkeep()
		}
	}
}

// upkeep goes on with what a shard does behind the scenes, which is refused while it is not open.
func (s *local) upkeep() {
	s.countLater()
	if x := s.segments; x != nil {
		x.wake()
		if x.lacks() {
			x.mending.call(x.start, x.repair)
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
	if e.space.look().ReadOnly != nil && (!e.undropped.Load() || !e.space.roomToOpen()) { // as at a start
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
		s.again(db)
	}
	return nil
}

// again takes a shard's state from a Pebble that was opened again. One of which that cannot be
// read refuses everything but gets, until it can; the others go on. The mutex is held.
func (s *local) again(db *store) {
	if s.gone {
		return
	}
	before := s.unopened
	s.unopened = nil
	if err := s.reread(db); err != nil {
		s.unopened = fault.At(fault.WithNext(fault.New(fault.Unavailable, "it could not be opened again with its folder: %w", err),
			"mend what the log of this process names as the cause; it is tried again each second"), s.engine.dir, place(s.id))
		if before == nil || before.Error() != s.unopened.Error() {
			s.engine.options.Logger.Error("store: a shard cannot be opened again", "shard", place(s.id), "cause", err)
		}
	}
}

func (s *local) reread(db *store) error {
	placed := s.gate.now()
	from, _, err := s.takeUp(db, placed.Term) // again: that it was is not synced
	if err == nil {
		err = s.read(from)
	}
	if err == nil && placed.Epoch > 0 {
		err = s.own(db, placed.Range)
	}
	if err != nil {
		return err
	}
	return s.showAll(db)
}
