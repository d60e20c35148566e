package drive_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// server is a store whose clock is a server's, which can be set back; each process asks it as
// adapters do.
type server struct {
	coord.Store
	mu   sync.Mutex
	back time.Duration
}

func (s *server) setBack(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back += by
}

// process is how one process asks it.
func (s *server) process() *drive.Driver {
	return drive.New(&asking{server: s}, 0)
}

type asking struct {
	*server
	clock coord.Asked
}

func (a *asking) Now(context.Context) (coord.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clock.Answered(coord.Time{At: time.Now().Round(0).Add(-a.back)}, time.Now()), nil
}

// TestAClockThatWasSetBackEndsNoLeaseAtBirth, be it by more than a lease: attempts are not burnt, a
// holder keeps its lease for as long as it beats, and nobody takes it from one.
func TestAClockThatWasSetBackEndsNoLeaseAtBirth(t *testing.T) {
	for _, by := range []time.Duration{40 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{Store: memory.New()}
			a := s.process()
			if err := a.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Now(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.setBack(by)
			time.Sleep(11 * time.Second) // the clock is asked again
			held, _, err := drive.Claim[work.Lease](t.Context(), a, "piece", "a", policy)
			if err != nil || held == nil {
				t.Fatal(held, err)
			}
			fresh := s.process() // has not heard of the time before
			for range 5 {
				time.Sleep(policy.Heartbeat)
				for name, d := range map[string]*drive.Driver{"b": fresh, "c": a} {
					if taken, _, err := drive.Claim[work.Lease](t.Context(), d, "piece", name, policy); taken != nil || err != nil {
						t.Fatalf("%s takes it: %v", name, err)
					}
				}
				if err := held.Beat(); err != nil || held.Context().Err() != nil {
					t.Fatal(err, context.Cause(held.Context()))
				}
			}
			if piece := held.Piece(); piece.Attempts != 1 {
				t.Errorf("%d attempts", piece.Attempts)
			}
			if err := held.Complete(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestACachedTimeTakesNoLease: whoever has asked for the time before the clock was set back does not take
// the lease of a holder that has asked since.
func TestACachedTimeTakesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Store: memory.New()}
		before := s.process()
		if err := before.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
			t.Fatal(err)
		}
		if _, err := before.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.setBack(time.Hour)
		held, _, err := drive.Claim[work.Lease](t.Context(), s.process(), "piece", "a", policy)
		if err != nil || held == nil {
			t.Fatal(held, err)
		}
		if taken, _, err := drive.Claim[work.Lease](t.Context(), before, "piece", "b", policy); taken != nil || err != nil {
			t.Errorf("it is taken at once: %v", err)
		}
		_ = held.Release("")
	})
}

// TestUncertainTimeIsWaitedFor: whether the lease of who is not heard of has ended nobody knows, before
// the clock has caught up; that is the cause which is told, and no attempt.
func TestUncertainTimeIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Store: memory.New()}
		a, b := s.process(), s.process()
		if err := a.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
			t.Fatal(err)
		}
		dead, _, err := drive.Claim[work.Lease](t.Context(), a, "piece", "a", policy)
		if err != nil || dead == nil {
			t.Fatal(dead, err)
		}
		if _, err := b.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.setBack(time.Hour)
		last := error(nil)
		for began := time.Now(); ; time.Sleep(5 * time.Second) {
			taken, piece, err := drive.Claim[work.Lease](t.Context(), b, "piece", "b", policy)
			if taken != nil {
				if after := time.Since(began); after < time.Hour || after > time.Hour+time.Minute || piece.Attempts != 2 {
					t.Errorf("it is taken after %s: %s", after, piece)
				}
				_ = taken.Release("")
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Uncertain(t.Context()); err != nil {
				if last = err; !drive.Passing(err) || fault.Next(err) == "" {
					t.Fatal(err)
				}
			}
			if time.Since(began) > 2*time.Hour {
				t.Fatal("it is never taken")
			}
		}
		if last == nil {
			t.Error("nobody says what is waited for")
		}
	})
}

// vague is a store whose answers say little about the time.
type vague struct{ coord.Store }

func (v vague) Now(ctx context.Context) (coord.Time, error) {
	at, err := v.Store.Now(ctx)
	at.Error += time.Hour
	return at, err
}

// TestALeaseThatWouldEndAtBirthIsNotTaken: no attempt is spent on it, and the cause is told.
func TestALeaseThatWouldEndAtBirthIsNotTaken(t *testing.T) {
	d := drive.New(vague{memory.New()}, 5*time.Second)
	if err := d.Make(t.Context(), "piece", work.Lease{CreatorID: "w"}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		held, _, err := drive.Claim[work.Lease](t.Context(), d, "piece", "w", policy)
		if held != nil || !fault.Is(err, fault.Transient) || fault.Next(err) == "" {
			t.Fatal(held, err)
		}
	}
	if piece, err := drive.Read[work.Lease](t.Context(), d, "piece"); err != nil || piece.Attempts != 0 {
		t.Errorf("%s %v", piece, err)
	}
}
