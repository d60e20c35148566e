package reshard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/catalog"
	coordmemory "github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/reshard"
	"github.com/reshelve/reshelve/shard/embedded"
	"github.com/reshelve/reshelve/store"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

var policy = work.Policy{InitialLease: time.Minute, Heartbeat: 100 * time.Millisecond, MaxAttempts: 4, ClockTolerance: time.Minute}

// house is a store with the index "books", and who works for its movements.
type house struct {
	testing.TB
	ctx    context.Context
	dir    string
	coord  *coordmemory.Store
	engine *embedded.Engine
	store  *store.Store
	driver *drive.Driver
	lane   *reshard.Lane
	n      int
}

func newHouse(t testing.TB, shards int) *house {
	h := &house{TB: t, ctx: t.Context(), dir: t.TempDir(), coord: coordmemory.New()}
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
	h.engine, err = embedded.Open(h.ctx, h.dir, embedded.Options{Logger: quiet})
	h.must(err)
	h.store, err = store.Open(h.ctx, h.coord, h.engine, store.Options{Logger: quiet})
	h.must(err)
	h.driver, h.lane = drive.New(h.coord, time.Minute), &reshard.Lane{Store: h.store}
}

func (h *house) close() {
	h.lane.Close()
	_ = h.store.Close()
	_ = h.engine.Close()
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
	body := reshard.Plan{Index: "books", Shards: shards, Budget: 10 * time.Second, Policy: policy}
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
	_, _, err := h.driver.Apply(h.ctx, id, movement.Event{Verb: verb, By: "test"})
	h.must(err)
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

// clients write, delete and get without end; each owns its ids, and knows what is there.
type clients struct {
	h    *house
	stop context.CancelFunc
	wait sync.WaitGroup
	mu   sync.Mutex
	have map[string]string
}

func (h *house) clients(n int) *clients {
	ctx, cancel := context.WithCancel(h.ctx)
	c := &clients{h: h, stop: cancel, have: map[string]string{}}
	for who := range n {
		c.wait.Go(func() { c.run(ctx, who) })
	}
	return c
}

func (c *clients) run(ctx context.Context, who int) {
	rng := rand.New(rand.NewPCG(uint64(who), 1))
	mine := map[string]string{}
	for n := 0; ctx.Err() == nil; n++ {
		var writes []document.Write
		var is []string
		for range 1 + rng.IntN(5) {
			id := fmt.Sprintf("%d-%d", who, rng.IntN(300))
			w := document.Write{Operation: document.Index, Target: "books", ID: id, Condition: document.Always}
			text := fmt.Sprintf(`{"n":%d,"who":%d}`, n, who)
			if w.Source = []byte(text); rng.IntN(4) == 0 {
				w.Operation, w.Source, text = document.Delete, nil, ""
			}
			writes, is = append(writes, w), append(is, text)
		}
		for i, a := range c.h.store.Write(context.WithoutCancel(ctx), writes, document.Eventually) {
			if a.Err != nil && !fault.Is(a.Err, fault.NotFound) {
				c.h.Errorf("a write of %s: %v", writes[i].ID, a.Err)
			}
			mine[writes[i].ID] = is[i]
		}
		id := fmt.Sprintf("%d-%d", who, rng.IntN(300))
		found, err := c.h.store.Get(context.WithoutCancel(ctx), document.Read{Target: "books", ID: id, Version: document.Unset})
		if want := mine[id]; err != nil || string(found.Source) != want {
			c.h.Errorf("get %s: %q %v, expected %q", id, found.Source, err, want)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(c.have, mine)
}

// end stops the clients and compares what is there with what they know.
func (c *clients) end() {
	c.h.Helper()
	c.stop()
	c.wait.Wait()
	c.agree()
}

func (c *clients) agree() {
	h := c.h
	h.Helper()
	live := int64(0)
	for id, want := range c.have {
		found, err := h.store.Get(h.ctx, document.Read{Target: "books", ID: id, Version: document.Unset})
		if err != nil || string(found.Source) != want {
			h.Errorf("in the end %s is %q (%v), expected %q", id, found.Source, err, want)
		}
		if want != "" {
			live++
		}
	}
	if _, err := h.store.Refresh(h.ctx, catalog.Expression{Names: []string{"books"}}); err != nil {
		h.Error(err)
	}
	total, _, err := h.store.Count(h.ctx, store.Where{Expression: catalog.Expression{Names: []string{"books"}}}, nil)
	if err != nil || total != live {
		h.Errorf("%d documents are found (%v), expected %d", total, err, live)
	}
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

func TestSplitAndMergeWhileClientsWork(t *testing.T) {
	h := newHouse(t, 2)
	c := h.clients(3)
	time.Sleep(100 * time.Millisecond)
	m := h.work(h.begin(false, by(3)), movement.Finished)
	if n := h.shards(); n != 6 {
		t.Errorf("%d shards", n)
	}
	if !strings.Contains(string(m.Report), `"fence"`) {
		t.Errorf("the report tells no pause: %s", m.Report)
	}
	h.work(h.begin(false, joinAll), movement.Finished)
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
	h.work(h.begin(false, by(2)), movement.Finished)
	c.end()
	h.close()
	h.open()
	c.agree()
	if entries, err := h.driver.Ledger(h.ctx, "m1"); err != nil || len(entries) > 0 {
		t.Errorf("the ledger: %v %v", entries, err)
	}
}

func TestTheWayBackLosesNothing(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(2)
	time.Sleep(50 * time.Millisecond)
	id := h.begin(true, by(3))
	h.work(id, movement.Switched)
	if _, err := h.tryBegin(false, by(2)); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), id) {
		t.Errorf("a second one: %v", err)
	}
	time.Sleep(50 * time.Millisecond)
	h.tell(id, movement.Reverse)
	if m := h.work(id, movement.Reversed); !strings.Contains(string(m.Report), `"fence"`) || strings.Contains(string(m.Report), `"documents":0}`) {
		t.Errorf("the report: %s", m.Report)
	}
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
	id = h.begin(true, by(2))
	h.work(id, movement.Switched)
	h.tell(id, movement.Finish)
	h.work(id, movement.Finished)
	c.end()
	if n := h.shards(); n != 2 {
		t.Errorf("%d shards", n)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	h := newHouse(t, 1)
	c := h.clients(1)
	time.Sleep(50 * time.Millisecond)
	id := h.begin(false, by(2))
	h.tell(id, movement.Abort)
	h.work(id, movement.Aborted)
	c.end()
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
	if entries, err := h.driver.Ledger(h.ctx, id); err != nil || len(entries) > 0 {
		t.Errorf("the ledger: %v %v", entries, err)
	}
	left, err := h.coord.List(h.ctx, "movement/")
	if err != nil || len(left) > 0 {
		t.Errorf("%d records are left (%v): %v", len(left), err, left)
	}
}

// TestAStoreClosesWithWhatIsPinned: one that is told to stop between a hand-off and its
// comparison does not wait for readers that nobody will use.
func TestAStoreClosesWithWhatIsPinned(t *testing.T) {
	h := newHouse(t, 1)
	id := h.begin(false, by(2))
	ctx, stop := context.WithCancel(h.ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, h.driver, map[movement.Kind]worker.Lane{movement.Split: stopsBefore{h.lane, movement.VerifyPhase, stop}},
			worker.Options{Name: "w", Movement: id, Logger: quiet, Pause: 10 * time.Millisecond})
	}()
	<-done
	if n := h.lane.Pinned(); n != 1 {
		t.Errorf("%d hand-offs are pinned", n)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); h.close() }()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("the store waits for what is pinned")
	}
	h.open()
	h.work(id, movement.Finished)
}

// stopsBefore ends the worker when a phase comes.
type stopsBefore struct {
	*reshard.Lane
	phase string
	stop  context.CancelFunc
}

func (s stopsBefore) Turn(ctx context.Context, slot worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	if phase.Name == s.phase {
		s.stop()
		return worker.Outcome{}, ctx.Err()
	}
	return s.Lane.Turn(ctx, slot, m, phase)
}
