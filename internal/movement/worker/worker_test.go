package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var policy = work.Policy{InitialLease: time.Minute, Heartbeat: 2 * time.Second, MaxAttempts: 3}

// counter is a lane of two phases: in the first one worker counts, in the second each of ten
// pieces is counted once.
type counter struct {
	mu     sync.Mutex
	counts map[string]int
	fails  func(key string, attempt int) error
	work   time.Duration
	at     atomic.Int32 // turns at work
	lost   atomic.Int32 // turns that end since their lease has ended, of which their context tells alone
}

func (c *counter) count(ctx context.Context, key string) error {
	c.at.Add(1)
	defer c.at.Add(-1)
	c.mu.Lock()
	c.counts[key]++
	attempt := c.counts[key]
	c.mu.Unlock()
	if c.work > 0 {
		if err := drive.Wait(ctx, c.work); err != nil {
			return err
		}
	}
	if c.fails != nil {
		return c.fails(key, attempt)
	}
	return nil
}

func (c *counter) Turn(ctx context.Context, s worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	if c.lost.Add(-1) >= 0 {
		return worker.Outcome{}, fmt.Errorf("a record is made: %w", context.Canceled)
	}
	if phase.Name == "one" {
		return worker.Single(ctx, s, m, "movement/"+m.ID+"/phase/one", policy, func(ctx context.Context) error { return c.count(ctx, "one") })
	}
	done := 0
	for n := range 10 {
		key := fmt.Sprint(n)
		outcome, err := worker.Single(ctx, s, m, "movement/"+m.ID+"/index/"+key, policy, func(ctx context.Context) error { return c.count(ctx, key) })
		if err != nil || outcome.Worked || outcome.Failed {
			outcome.Done = false
			return outcome, err
		}
		if outcome.Done {
			done++
		}
	}
	return worker.Outcome{Done: done == 10, Text: fmt.Sprintf("%d pieces", done)}, nil
}

func (c *counter) Undo(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	if busy, err := worker.Busy(ctx, s.Driver, m.ID, policy); busy || err != nil {
		return worker.Outcome{}, err
	}
	return worker.Outcome{Worked: true, Done: true}, s.Driver.RemoveAll(ctx, "movement/"+m.ID+"/")
}

func (c *counter) Settle(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	return c.Undo(ctx, s, m)
}

// fleet is a movement that is running, in a store of its own.
type fleet struct {
	*drive.Driver
	*counter
	t *testing.T
}

func newFleet(t *testing.T) fleet {
	t.Helper()
	f := fleet{drive.New(memory.New(), 0), &counter{counts: map[string]int{}}, t}
	now, err := f.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := movement.Record{ID: "m", Kind: "count", State: movement.Planned, Plan: []byte(`{}`), Created: now,
		Phases: []movement.Phase{{Name: "one"}, {Name: "ten"}}}
	if err := f.Plan(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	f.tell(movement.Start)
	return f
}

func (f fleet) tell(v movement.Verb) {
	f.t.Helper()
	if _, _, err := f.Apply(f.t.Context(), "m", movement.Event{Verb: v, By: "tester"}); err != nil {
		f.t.Fatal(err)
	}
}

// run lets processes work, of two slots each, until the movement has ended or holds.
func (f fleet) run(ctx context.Context, processes int) {
	f.t.Helper()
	var all sync.WaitGroup
	for n := range processes {
		all.Go(func() {
			err := worker.Run(ctx, f.Driver, map[movement.Kind]worker.Lane{"count": f.counter}, worker.Options{
				Name: fmt.Sprintf("p%d", n), Slots: 2, Movement: "m", Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
}

func (f fleet) state() movement.Record {
	f.t.Helper()
	r, err := f.Movement(f.t.Context(), "m")
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func TestEachPieceOnce(t *testing.T) {
	for _, processes := range []int{1, 4} {
		f := newFleet(t)
		f.run(t.Context(), processes)
		if r := f.state(); r.State != movement.Finished || r.Phases[1].Outcome != "10 pieces" {
			t.Errorf("%d processes: %s, %s", processes, r.State, r.Phases[1].Outcome)
		}
		if len(f.counts) != 11 {
			t.Errorf("%d pieces were done", len(f.counts))
		}
		for key, n := range f.counts {
			if n != 1 {
				t.Errorf("%d processes: piece %s was done %d times", processes, key, n)
			}
		}
		if records, err := f.Store().List(t.Context(), "movement/"); err != nil || len(records) != 0 {
			t.Errorf("records are left: %v, %v", records, err)
		}
	}
}

// TestWhatPassesIsTriedAgain, by whoever comes, and no more often than it may be.
func TestWhatPassesIsTriedAgain(t *testing.T) {
	f := newFleet(t)
	f.fails = func(key string, attempt int) error {
		if key == "3" && attempt < 3 {
			return fault.New(fault.Transient, "not now")
		}
		return nil
	}
	f.run(t.Context(), 2)
	if r := f.state(); r.State != movement.Finished || f.counts["3"] != 3 {
		t.Errorf("%s after %d attempts", r.State, f.counts["3"])
	}
}

// TestALeaseThatEndsWithinATurnEndsNoWorker: the context of the lease is all that such a turn has
// been told, and nobody has told the worker to stop.
func TestALeaseThatEndsWithinATurnEndsNoWorker(t *testing.T) {
	f := newFleet(t)
	f.lost.Store(7)
	f.run(t.Context(), 1)
	if r := f.state(); r.State != movement.Finished {
		t.Errorf("it is %s", r.State)
	}
}

func TestPoisonFailsWithItsCause(t *testing.T) {
	f := newFleet(t)
	f.fails = func(key string, _ int) error {
		if key == "7" {
			return fault.New(fault.Corrupt, "the file is torn")
		}
		return nil
	}
	f.run(t.Context(), 2)
	r := f.state()
	if r.State != movement.Failed || r.Cause != "the file is torn" || f.counts["7"] != policy.MaxAttempts {
		t.Errorf("%s: %q after %d attempts", r.State, r.Cause, f.counts["7"])
	}
}

// TestPauseGivesLeasesBack: nobody works for a movement that is paused, and it goes on when
// it is resumed.
func TestAStoppedWorkerGivesItsLeaseBack(t *testing.T) {
	f := newFleet(t)
	f.work = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for f.at.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	f.run(ctx, 1)
	pieces, err := drive.Pieces[work.Lease](t.Context(), f.Driver, "movement/m/phase/")
	if err != nil {
		t.Fatal(err)
	}
	if one := pieces["one"]; one.LeaseHolderID != "" || one.Attempts != 0 {
		t.Errorf("the lease stays: %+v", one)
	}
	f.work = 0
	f.run(t.Context(), 1)
	if r := f.state(); r.State != movement.Finished {
		t.Errorf("%s", r.State)
	}
}

func TestAbortUndoes(t *testing.T) {
	f := newFleet(t)
	f.tell(movement.Abort)
	f.run(t.Context(), 2)
	if r := f.state(); r.State != movement.Aborted || len(f.counts) != 0 {
		t.Errorf("%s, %v", r.State, f.counts)
	}
}

// TestResumeBeginsAnew: what failed as often as it may is tried again when somebody has
// mended the cause and says so.
func TestResumeBeginsAnew(t *testing.T) {
	f := newFleet(t)
	f.fails = func(key string, attempt int) error {
		if key == "one" && attempt <= policy.MaxAttempts {
			return fault.New(fault.Corrupt, "the file is torn")
		}
		return nil
	}
	f.run(t.Context(), 2)
	if r := f.state(); r.State != movement.Failed || r.Cause != "the file is torn" {
		t.Fatalf("%s: %q", r.State, r.Cause)
	}
	f.tell(movement.Resume)
	f.run(t.Context(), 2)
	if r := f.state(); r.State != movement.Finished {
		t.Errorf("%s: %q", r.State, r.Cause)
	}
}
