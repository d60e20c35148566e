package store

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// keptTasks is how many tasks that have ended are remembered.
const keptTasks = 1000

// Task is long work that goes on after its request was answered.
type Task struct {
	ID          int64
	Action      string // "indices:data/write/reindex"
	Description string
	Opaque      string // how the client has marked the request; "": not
	Started     time.Time

	stop context.CancelFunc
	over chan struct{} // closed when it has ended

	mu        sync.Mutex
	cancelled bool
	ended     time.Time
	progress  Progress
	err       error
}

// TaskState is a task at one time.
type TaskState struct {
	*Task
	Progress  Progress
	Took      time.Duration
	Done      bool
	Cancelled bool
	Err       error // of one that is done
}

// State is how far it has come.
func (t *Task) State() TaskState {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := TaskState{Task: t, Progress: t.progress, Done: !t.ended.IsZero(), Cancelled: t.cancelled, Err: t.err, Took: time.Since(t.Started)}
	if s.Done {
		s.Took = t.ended.Sub(t.Started)
	}
	return s
}

// Wait waits until the task has ended, or ctx has.
func (t *Task) Wait(ctx context.Context) error {
	select {
	case <-t.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel lets the task end after what it is at.
func (t *Task) Cancel() {
	t.mu.Lock()
	t.cancelled = t.cancelled || t.ended.IsZero()
	t.mu.Unlock()
	t.stop()
}

// tasks are those of a store.
type tasks struct {
	mu   sync.Mutex
	last int64
	all  map[int64]*Task
}

func (r *tasks) init() { r.all = map[int64]*Task{} }

// Begin does a change by query in the background: until it has ended, is cancelled, or the
// store is closed.
func (s *Store) Begin(action, description, opaque string, q ByQuery) *Task {
	ctx, stop := context.WithCancel(s.background)
	t := &Task{Action: action, Description: description, Opaque: opaque, Started: time.Now(), stop: stop, over: make(chan struct{})}
	s.tasks.add(t)
	s.running.Go(func() {
		defer stop()
		err := s.guarded(action, func() error {
			progress, err := s.Change(ctx, q, t.reached)
			t.reached(progress)
			return err
		})
		t.mu.Lock()
		t.err, t.ended = err, time.Now()
		t.mu.Unlock()
		close(t.over)
	})
	return t
}

// reached tells how far the task has come.
func (t *Task) reached(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress = p
}

func (r *tasks) add(t *Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	t.ID = r.last
	r.all[t.ID] = t
	if len(r.all) <= keptTasks {
		return
	}
	oldest := int64(-1)
	for id, other := range r.all {
		if other.State().Done && (oldest < 0 || id < oldest) {
			oldest = id
		}
	}
	delete(r.all, oldest)
}

// Task finds a task; nil when there is none, or when it was forgotten.
func (s *Store) Task(id int64) *Task {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	return s.tasks.all[id]
}

// Tasks are those that are at work, the oldest first.
func (s *Store) Tasks() (working []TaskState) {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	for _, t := range s.tasks.all {
		if state := t.State(); !state.Done {
			working = append(working, state)
		}
	}
	slices.SortFunc(working, func(a, b TaskState) int { return cmp.Compare(a.ID, b.ID) })
	return working
}
