package reshard_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

var policy = work.Policy{InitialLease: time.Minute, Heartbeat: 100 * time.Millisecond, MaxAttempts: 4, ClockTolerance: time.Minute}

// house is a store with the index "books", and who works for its movements.
type house struct {
	testing.TB
	ctx    context.Context
	dir    string
	coord  *coordmemory.Store
	engine shard.Engine // nil: one on the disk, opened with the house
	store  *store.Store
	driver *drive.Driver
	lane   *reshard.Lane
	n      int
	budget time.Duration // of the pause; 0: plenty
}

func newHouse(t testing.TB, shards int) *house { return newHouseOn(t, shards, nil) }

func newHouseOn(t testing.TB, shards int, engine shard.Engine) *house {
	h := &house{TB: t, ctx: t.Context(), dir: t.TempDir(), coord: coordmemory.New(), engine: engine}
	h.open()
	t.Cleanup(h.close)
	_, err := h.store.CreateIndex(h.ctx, "books", fmt.Appendf(nil, `{"settings":{"number_of_shards":%d}}`, shards))
	h.must(err)
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) open() {
	h.Helper()
	var err error
	if h.engine == nil {
		h.engine, err = embedded.Open(h.ctx, h.dir, embedded.Options{Logger: quiet})
		h.must(err)
	}
	h.store, err = store.Open(h.ctx, h.coord, h.engine, store.Options{Logger: quiet})
	h.must(err)
	h.driver, h.lane = drive.New(h.coord, time.Minute), &reshard.Lane{Store: h.store}
}

func (h *house) close() {
	if h.engine == nil {
		return
	}
	h.lane.Close()
	_ = h.store.Close()
	_ = h.engine.Close()
	h.engine = nil
}

// begin plans and starts a movement.
func (h *house) begin(keep bool, plan func(placement.Placement) (placement.Plan, error)) string {
	h.Helper()
	id, err := h.tryBegin(keep, plan)
	h.must(err)
	return id
}

func (h *house) tryBegin(keep bool, plan func(placement.Placement) (placement.Plan, error)) (string, error) {
	p, err := h.store.PlacementOf(h.ctx, "books")
	if err != nil {
		return "", err
	}
	shards, err := plan(p)
	if err != nil {
		return "", err
	}
	body := reshard.Plan{Index: "books", Shards: shards, Budget: cmp.Or(h.budget, 10*time.Second), Policy: policy}
	text, _ := json.Marshal(body)
	h.n++
	id := fmt.Sprintf("m%d", h.n)
	m := movement.Record{ID: id, Kind: body.Kind(), State: movement.Planned, Plan: text, Phases: reshard.Phases(), KeepWayBack: keep, Created: time.Now().UTC()}
	if err := h.driver.Plan(h.ctx, m); err != nil {
		return "", err
	}
	if err := h.lane.Begin(h.ctx, h.driver, id, body, placement.Change{By: "test", Why: "test", At: time.Now().UTC()}); err != nil {
		return "", err
	}
	_, _, err = h.driver.Apply(h.ctx, id, movement.Event{Verb: movement.Start, By: "test"})
	return id, err
}

// work works until the movement rests.
func (h *house) work(id string, states ...movement.State) *movement.Record {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.ctx, time.Minute)
	defer cancel()
	h.must(worker.Run(ctx, h.driver, map[movement.Kind]worker.Lane{movement.Split: h.lane, movement.Merge: h.lane},
		worker.Options{Name: "w", Slots: 2, Movement: id, Logger: quiet, Pause: 10 * time.Millisecond}))
	m, err := h.driver.Movement(h.ctx, id)
	h.must(err)
	for _, s := range states {
		if m.State == s {
			return &m
		}
	}
	h.Fatalf("movement %s is %s (%s), expected %v\n%+v", id, m.State, m.Cause, states, m.Journal)
	return nil
}

func (h *house) tell(id string, verb movement.Verb) {
	h.Helper()
	h.happens(id, movement.Event{Verb: verb, By: "test"})
}

// workBefore works until a phase comes.
func (h *house) workBefore(id, phase string) {
	h.Helper()
	ctx, stop := context.WithTimeout(h.ctx, time.Minute)
	defer stop()
	_ = worker.Run(ctx, h.driver, map[movement.Kind]worker.Lane{movement.Split: stopsBefore{h.lane, phase, stop}},
		worker.Options{Name: "w", Movement: id, Logger: quiet, Pause: 10 * time.Millisecond})
}

func (h *house) happens(id string, e movement.Event) {
	h.Helper()
	_, _, err := h.driver.Apply(h.ctx, id, e)
	h.must(err)
}

// mind looks after a movement if it rests, as the process does that serves the store.
func (h *house) mind(id string) {
	h.Helper()
	m, err := h.driver.Movement(h.ctx, id)
	h.must(err)
	if len(m.Owed()) == 0 {
		h.must(h.lane.Mind(h.ctx, h.driver, &m))
	}
}

// shards is how many the index has.
func (h *house) shards() int {
	p, err := h.store.PlacementOf(h.ctx, "books")
	h.must(err)
	if p.Transfer != nil {
		h.Errorf("a reshaping is left: %s", p.Transfer)
	}
	return len(p.Shards)
}

func by(m int) func(placement.Placement) (placement.Plan, error) {
	return func(p placement.Placement) (placement.Plan, error) { return p.SplitBy(m, nil) }
}

func joinAll(p placement.Placement) (placement.Plan, error) {
	var all []uint32
	for _, s := range p.Shards {
		all = append(all, s.Number)
	}
	return p.Join(all, nil)
}
