package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// Fleet is a run of workers that do items in which nothing is to be done but to hold them for a
// while: real are the workers, their search, their claims, leases and heartbeats. It shows how
// the throughput of a fleet grows with it, and what it asks of the coordination store.
type Fleet struct {
	Workers int
	Items   int
	Takes   time.Duration // an item, about
	Answers time.Duration // the coordination store, about
	Digits  int           // of the buckets of items; 0: as for the movement of so many
}

// FleetReport is what a fleet has done, in simulated time.
type FleetReport struct {
	Items    time.Duration  // until the last item was done
	Phase    time.Duration  // until somebody knew, and said so
	Requests map[string]int // to the coordination store, by kind
	Records  int            // that lists have told
}

// All are the requests together.
func (r *FleetReport) All() (sum int) {
	for _, n := range r.Requests {
		sum += n
	}
	return sum
}

// Share is how much of what the same number of workers would do, did they never wait or ask for
// anything, the fleet has done, from the phase's beginning to its end.
func (r *FleetReport) Share(f Fleet) float64 {
	return float64(f.Takes) * math.Ceil(float64(f.Items)/float64(f.Workers)) / float64(r.Phase)
}

const fleetPhase = "documents"

// Run lets the fleet work in a bubble of its own.
func (f Fleet) Run(t *testing.T) (r FleetReport) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := &counted{answers: f.Answers, records: map[string]coord.Record{}, asked: map[string]int{}}
		digits := cmp.Or(f.Digits, work.Digits(f.Items))
		store.plan(f, digits)
		began := time.Now()
		var running sync.WaitGroup
		for n := range f.Workers {
			running.Go(func() {
				name := fmt.Sprintf("w%d", n)
				ctx := chance.With(t.Context(), func() uint64 {
					return mix(uint64(n)<<32 ^ mix(uint64(time.Now().UnixNano())))
				})
				lane := &nothing{fleet: f, digits: digits, policy: work.Default}
				err := worker.Run(ctx, drive.New(store, 0), map[movement.Kind]worker.Lane{movement.Migrate: lane},
					worker.Options{Name: name, Movement: "m", Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		m := store.movement()
		if m.State != movement.Finished {
			t.Errorf("it is %s: %s", m.State, m.Cause)
		}
		last := store.lastItem(t, f)
		r = FleetReport{Items: last.Sub(began), Phase: m.Phases[0].Ended.Sub(began), Requests: store.asked, Records: store.told}
	})
	return r
}

// nothing is a lane whose items take a while, and that is all.
type nothing struct {
	fleet  Fleet
	digits int
	policy work.Policy
	search worker.Search
}

// Turn is worker.Lane's.
func (l *nothing) Turn(ctx context.Context, s worker.Slot, m *movement.Record, _ *movement.Phase) (worker.Outcome, error) {
	found, err := l.search.Find(ctx, s, m, l.policy, l.digits)
	if err != nil || found.Ended || found.Key == "" {
		return worker.Outcome{Worked: found.Ended, Done: found.Ended, Text: fmt.Sprint(found.All)}, err
	}
	held, _, err := worker.Claim[work.Item](ctx, s, m, found.Key, l.policy)
	if err != nil || held == nil {
		return worker.Outcome{}, err
	}
	err = worker.Beating(s, m, held, l.policy, held.Beat, func(ctx context.Context) error {
		if err := drive.Wait(ctx, l.fleet.Takes); err != nil {
			return err
		}
		return held.Update(func(i work.Item, now time.Time) (work.Item, error) {
			return i.Advance(s.Worker, now, i.End, i.Counts)
		})
	})
	outcome, err := worker.Settle(ctx, held, err)
	return worker.Outcome{Worked: outcome.Worked}, err
}

// Undo is worker.Lane's.
func (l *nothing) Undo(context.Context, worker.Slot, *movement.Record) (worker.Outcome, error) {
	return worker.Outcome{Done: true}, nil
}

// Settle is worker.Lane's.
func (l *nothing) Settle(context.Context, worker.Slot, *movement.Record) (worker.Outcome, error) {
	return worker.Outcome{Done: true}, nil
}

// counted is a coordination store that counts what it is asked. Each answer takes a while, and
// as many as there are come at once.
type counted struct {
	answers time.Duration

	mu       sync.Mutex
	records  map[string]coord.Record
	keys     []string // in order
	revision int64
	asked    map[string]int
	told     int
}

var _ coord.Store = (*counted)(nil)

// plan stores a movement that is at its items.
func (s *counted) plan(f Fleet, digits int) {
	m := movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Planned, Phases: []movement.Phase{{Name: fleetPhase}}, Created: time.Now()}
	m, _, err := movement.Step(m, movement.Event{At: time.Now(), Verb: movement.Start, By: "operator"})
	if err != nil {
		panic(err)
	}
	s.put("movements/m", m)
	for n := range f.Items {
		i := work.Item{Index: "books", Shard: n, End: 1000}
		s.put(work.ItemKey("m", i.Name(), digits), i)
	}
	slices.Sort(s.keys)
}

func (s *counted) put(key string, record any) {
	value, err := json.Marshal(record)
	if err != nil {
		panic(err) // numbers and strings
	}
	s.revision++
	s.records[key] = coord.Record{Key: key, Value: value, Revision: s.revision}
	s.keys = append(s.keys, key)
}

func (s *counted) movement() (m movement.Record) {
	_ = json.Unmarshal(s.records["movements/m"].Value, &m) // the driver has written it
	return m
}

// lastItem is when the last item was done; all have to be.
func (s *counted) lastItem(t *testing.T, f Fleet) (last time.Time) {
	done := 0
	for key, r := range s.records {
		if !strings.HasPrefix(key, work.ItemsPrefix("m")) {
			continue
		}
		i, err := work.ReadItem(r.Value)
		if err == nil && i.State == work.Done {
			done++
		}
		if i.CompletedAt.After(last) {
			last = i.CompletedAt
		}
	}
	if done != f.Items {
		t.Errorf("%d of %d items are done", done, f.Items)
	}
	return last
}

// ask lets a request travel there; the answer's way back is in it.
func (s *counted) ask(ctx context.Context, kind string) error {
	time.Sleep(s.answers/2 + chance.N(ctx, s.answers))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[kind]++
	return ctx.Err()
}

// Get is coord.Store's.
func (s *counted) Get(ctx context.Context, key string) (coord.Record, error) {
	if err := s.ask(ctx, "get"); err != nil {
		return coord.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, there := s.records[key]; there {
		return r, nil
	}
	return coord.Record{}, coord.Missing(key)
}

// List is coord.Store's.
func (s *counted) List(ctx context.Context, prefix string) (found []coord.Record, err error) {
	if err := s.ask(ctx, "list"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearch(s.keys, prefix)
	for _, key := range s.keys[at:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		found = append(found, s.records[key])
	}
	s.told += len(found)
	return found, nil
}

func (s *counted) write(ctx context.Context, kind string, w coord.Write) (int64, error) {
	if err := s.ask(ctx, kind); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, there := s.records[w.Key]
	if err := w.Admit(old.Revision); err != nil {
		s.asked["conflict"]++
		s.asked[kind]--
		return 0, err
	}
	at, _ := slices.BinarySearch(s.keys, w.Key)
	switch {
	case w.Op == coord.OpDelete:
		delete(s.records, w.Key)
		s.keys = slices.Delete(s.keys, at, at+1)
		return 0, nil
	case !there:
		s.keys = slices.Insert(s.keys, at, w.Key)
	}
	s.revision++
	s.records[w.Key] = coord.Record{Key: w.Key, Value: slices.Clone(w.Value), Revision: s.revision}
	return s.revision, nil
}

// Create is coord.Store's.
func (s *counted) Create(ctx context.Context, key string, value []byte) (int64, error) {
	return s.write(ctx, "create", coord.Write{Op: coord.OpCreate, Key: key, Value: value})
}

// Swap is coord.Store's.
func (s *counted) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return s.write(ctx, "swap", coord.Write{Op: coord.OpSwap, Key: key, Revision: revision, Value: value})
}

// Delete is coord.Store's.
func (s *counted) Delete(ctx context.Context, key string, revision int64) error {
	_, err := s.write(ctx, "delete", coord.Write{Op: coord.OpDelete, Key: key, Revision: revision})
	return err
}

// Watch is coord.Store's; workers watch nothing.
func (s *counted) Watch(context.Context, string, int64) iter.Seq2[coord.Event, error] {
	return func(yield func(coord.Event, error) bool) {
		yield(coord.Event{}, fault.New(fault.Refused, "nothing is watched here"))
	}
}

// Revision is coord.Store's.
func (s *counted) Revision(ctx context.Context) (int64, error) {
	return s.revision, s.ask(ctx, "revision")
}

// Now is coord.Store's.
func (s *counted) Now(ctx context.Context) (coord.Time, error) {
	return coord.Time{At: time.Now()}, s.ask(ctx, "now")
}

// Close is coord.Store's.
func (s *counted) Close() error { return nil }
