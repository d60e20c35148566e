package embedded

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// restAfterFailure is how long no merge begins after one that failed.
const restAfterFailure = time.Second

// scheduler lets Pebble merge files, one merge at a time. Pebble repeats a merge that
// fails at once, which takes a whole core over a damaged file; here the next one waits.
// It is Pebble's CompactionScheduler, and the handle that it grants.
type scheduler struct {
	mu       sync.Mutex // taken after Pebble's, so Pebble is never asked with it held
	idle     sync.Cond  // told when asking ends
	db       pebble.DBForCompaction
	begun    bool // the store is open: merges would only be in the way before
	running  int
	asking   bool
	gone     bool
	restTill time.Time
	wake     *time.Timer // ends the rest; nil: none was needed yet
}

var _ pebble.CompactionScheduler = (*scheduler)(nil)

func newScheduler() *scheduler {
	s := &scheduler{}
	s.idle.L = &s.mu
	return s
}

// begin permits merges from now on.
func (s *scheduler) begin() {
	s.mu.Lock()
	s.begun = true
	s.mu.Unlock()
	go s.grant()
}

// failed is told of work that failed.
func (s *scheduler) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return
	}
	s.restTill = time.Now().Add(restAfterFailure)
	if s.wake == nil {
		s.wake = time.AfterFunc(restAfterFailure, s.grant)
		return
	}
	s.wake.Reset(restAfterFailure)
}

// free reports whether a merge may begin. The mutex is held.
func (s *scheduler) free() bool {
	return s.begun && !s.gone && s.running == 0 && !time.Now().Before(s.restTill)
}

// Register is called once, before all else.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) { s.db = db }

// Unregister waits until Pebble is asked nothing more.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	if s.wake != nil {
		s.wake.Stop()
	}
	for s.asking {
		s.idle.Wait()
	}
}

// TrySchedule permits a merge that Pebble asks for.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.free() {
		return false, nil
	}
	s.running++
	return true, s
}

// grant permits a merge that Pebble was refused before, if there is one.
func (s *scheduler) grant() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking || !s.free() {
		return
	}
	s.asking = true
	s.running++
	s.mu.Unlock()
	waiting, _ := s.db.GetWaitingCompaction()
	begun := waiting && s.db.Schedule(s)
	s.mu.Lock()
	if !begun {
		s.running--
	}
	s.asking = false
	s.idle.Broadcast()
}

// Done ends a merge.
func (s *scheduler) Done() {
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
	s.grant()
}

// UpdateGetAllowedWithoutPermission changes nothing: it is always one.
func (s *scheduler) UpdateGetAllowedWithoutPermission() {}

// Started is of no interest.
func (s *scheduler) Started() {}

// MeasureCPU is of no interest.
func (s *scheduler) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats are of no interest.
func (s *scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}
