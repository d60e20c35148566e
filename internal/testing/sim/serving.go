package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
)

// indexName is that of the index.
const indexName = "books"

// server is a process that has the folder: the store, and who works for its movements.
type server struct {
	of       *shelves
	process  *process
	store    *store.Store
	shards   *opened
	lane     *reshard.Lane
	driver   *drive.Driver
	requests sync.WaitGroup
}

// who names the part of a process that makes a call: a slot, a client, an operator.
type who struct{}

// called gives a part a name, and chances of its own.
func called(ctx context.Context, name string) context.Context {
	return chance.Apart(context.WithValue(ctx, who{}, name), int(crc32.ChecksumIEEE([]byte(name))))
}

func caller(ctx context.Context) string {
	name, _ := ctx.Value(who{}).(string)
	return name
}

// live waits for the folder, and serves it.
func (w *shelves) live(p *process) error {
	engine, err := w.folder(p)
	if err != nil {
		return err
	}
	defer w.unlock(p)
	s := &server{of: w, process: p, driver: w.driver(p), shards: &opened{Engine: engine, shards: map[shard.ID]shard.Shard{}}}
	ctx := called(p.ctx, "start")
	if s.store, err = store.Open(ctx, view{p}, s.shards, store.Options{By: p.name, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	s.lane = &reshard.Lane{Store: s.store}
	if err = s.found(ctx); err == nil {
		_, err = p.ask(ctx, &call{to: "disk", verb: "serve", do: func() any { w.server, w.servers[p] = s, s; return nil }})
	}
	if err == nil {
		if err := worker.TidyEnded(ctx, s.driver); err == nil || drive.Passing(err) {
			s.work()
		}
	}
	_, _ = p.ask(context.WithoutCancel(ctx), &call{to: "disk", verb: "leave", do: func() any { w.gone(s); return nil }})
	s.requests.Wait()
	s.lane.Close()
	return errors.Join(err, s.store.Close())
}

// folder waits until nobody else has it: what its engine then finds is what is durable.
func (w *shelves) folder(p *process) (*memory.Engine, error) {
	for {
		// Who is told to stop meanwhile hears of it nevertheless: it would not be let go of else.
		answer, err := p.ask(context.WithoutCancel(p.ctx), &call{to: "disk", verb: "lock", do: func() any {
			if w.served != nil && w.served != p {
				return fault.New(fault.Unavailable, "the folder is %s's", w.served.name)
			}
			if w.served = p; p.dead {
				w.served = nil
				return errDead
			}
			d := &disk{of: w, process: p}
			w.engine = w.engine.Reopened(memory.Options{Durable: d.durable})
			d.engine = w.engine
			return d.engine
		}})
		if err == nil {
			return answer.(*memory.Engine), nil
		}
		if err := drive.Wait(p.ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

func (w *shelves) unlock(p *process) {
	_, _ = p.ask(context.WithoutCancel(p.ctx), &call{to: "disk", verb: "unlock", do: func() any { w.died(p); return nil }})
}

func (w *shelves) copies() bool { return false }

func (w *shelves) sends(*call) {}

// died lets go of what a process has that is no more.
func (w *shelves) died(p *process) {
	if w.served == p {
		w.served = nil
	}
	if w.server != nil && w.server.process == p {
		w.gone(w.server)
	}
	if s := w.servers[p]; s != nil && p.dead { // what waits in it for an answer waits in vain
		go func() { _ = s.store.Close() }()
	}
}

func (w *shelves) gone(s *server) {
	if w.server == s {
		w.server = nil
	}
}

// found makes the index, in the first life.
func (s *server) found(ctx context.Context) error {
	if _, there := s.store.Catalog().Indices[indexName]; there || s.of.deletion != standing {
		return nil
	}
	_, err := s.store.CreateIndex(ctx, indexName, fmt.Appendf(nil, `{"settings":{"number_of_shards":%d},"mappings":{"properties":{"n":{"type":"long"},"who":{"type":"keyword"}}}}`, s.of.script.Shards))
	return err
}

// work works for the movements until the process is told to end.
func (s *server) work() {
	lanes := map[movement.Kind]worker.Lane{movement.Split: s.lane, movement.Merge: s.lane}
	var slots sync.WaitGroup
	for n := range s.of.script.Slots {
		slots.Go(func() {
			name := fmt.Sprintf("%s-%c", s.process.name, 'a'+n)
			ctx := called(s.process.ctx, "slot "+string(rune('a'+n)))
			for life := 1; ctx.Err() == nil; life++ {
				_ = worker.Run(ctx, s.driver, lanes, worker.Options{Name: fmt.Sprintf("%s%d", name, life),
					Logger: slog.New(slog.DiscardHandler), Pause: 200 * time.Millisecond})
				_ = drive.Wait(ctx, time.Second)
			}
		})
	}
	slots.Go(func() { s.mind(called(s.process.ctx, "desk")) })
	slots.Wait()
}

// mind looks after movements that owe nothing, as the desk of a served store does.
func (s *server) mind(ctx context.Context) {
	for ; ctx.Err() == nil; _ = drive.Wait(ctx, time.Second) {
		all, _ := s.driver.Movements(ctx)
		for i := range all {
			if len(all[i].Owed()) == 0 && !all[i].State.Ended() {
				_ = s.lane.Mind(ctx, s.driver, &all[i])
			}
		}
	}
}

// request lets somebody ask the process, which answers unless it dies before. Told is called
// when the answer is there; heard is false when none will come.
func (s *server) request(name string, within time.Duration, do func(context.Context) any, told func(answer any, heard bool)) {
	p := s.process
	ctx, cancel := context.WithTimeout(called(p.ctx, name), within)
	s.requests.Add(1)
	s.of.asking++
	c := &call{process: p, to: "client", verb: "told", text: name, inside: true}
	go func() {
		answer := do(ctx)
		cancel()
		s.requests.Done()
		c.do = func() any {
			s.of.asking--
			told(answer, !p.dead && !s.of.cut())
			return nil
		}
		p.world.arrive(c)
	}()
}

// verb asks for something about a movement.
func (s *server) verb(id string, verb movement.Verb) {
	s.of.report.Verbs = append(s.of.report.Verbs, string(verb))
	s.request("operator "+string(verb), time.Minute, func(ctx context.Context) any {
		_, _, err := s.driver.Apply(ctx, id, movement.Event{Verb: verb, By: "operator"})
		return err
	}, func(answer any, heard bool) {
		if err, failed := answer.(error); failed && heard && fault.Is(err, fault.Bug) {
			s.of.violate("L12", "%s of movement %s: %v", verb, id, err)
		}
	})
}

// reshape plans and begins a movement, as a served store does when it is asked to.
func (s *server) reshape(m Mishap) {
	a := &asked{id: fmt.Sprintf("m%d", len(s.of.movements)+1)}
	s.of.movements = append(s.of.movements, a)
	s.of.id = a.id
	s.request("operator "+m.What, time.Minute, func(ctx context.Context) any {
		err := s.reshapeNow(ctx, a, m)
		if refusedAsk(err) {
			err = errors.Join(err, s.driver.Strike(ctx, a.id, movement.Entry{Kind: "reshaping", Name: indexName}), s.driver.Forget(ctx, a.id))
		}
		return err
	}, func(answer any, heard bool) {
		if err, failed := answer.(error); failed && heard && fault.Is(err, fault.Bug) {
			s.of.violate("L12", "%s: %v", m, err)
		}
	})
}

func (s *server) reshapeNow(ctx context.Context, a *asked, m Mishap) error {
	p, err := s.store.PlacementOf(ctx, indexName)
	if err != nil {
		return err
	}
	shards, err := planned(&p, m)
	if err != nil {
		return err
	}
	a.more = shards.After - shards.Before
	plan := reshard.Plan{Index: indexName, Shards: shards, Budget: s.of.script.Budget, Policy: s.of.policy()}
	now, err := s.driver.Now(ctx)
	if err != nil {
		return err
	}
	record := movement.Record{ID: a.id, Kind: plan.Kind(), State: movement.Planned, Phases: reshard.Phases(), KeepWayBack: strings.HasSuffix(m.What, "-keeping"), Created: now}
	if record.Plan, err = json.Marshal(plan); err != nil {
		return err
	}
	if err := s.driver.Plan(ctx, record); err != nil {
		return err
	}
	if err := s.lane.Begin(ctx, s.driver, a.id, plan, placement.Change{By: "operator", Why: m.String(), At: now}); err != nil {
		return err
	}
	_, _, err = s.driver.Apply(ctx, a.id, movement.Event{Verb: movement.Start, By: "operator"})
	return err
}

// planned is what a line of a script asks for: split N/K, split all/K, merge N+K.
func planned(p *placement.Placement, m Mishap) (placement.Plan, error) {
	if which, many, splits := strings.Cut(m.Whom, "/"); splits {
		k, _ := strconv.Atoi(many)
		if which == "all" {
			return p.SplitBy(k, nil)
		}
		n, _ := strconv.Atoi(which)
		return p.SplitInto(p.Shards[chosen(p, n)].Number, k, nil)
	}
	which, many, _ := strings.Cut(m.Whom, "+")
	n, _ := strconv.Atoi(which)
	k, _ := strconv.Atoi(many)
	var numbers []uint32
	for i := chosen(p, n); i < len(p.Shards) && len(numbers) < k; i++ {
		numbers = append(numbers, p.Shards[i].Number)
	}
	return p.Join(numbers, nil)
}

// disk is what the engine of one process stands on.
type disk struct {
	of      *shelves
	process *process
	engine  *memory.Engine
}

// durable asks the world: what comes there when the process is gone and another one has the
// folder changes nothing any more.
func (d *disk) durable(ctx context.Context, what string, parts int, change func(made int)) error {
	verb, text, _ := strings.Cut(what, " ")
	c := &call{to: "disk", verb: verb, text: text, step: verb != "write"}
	c.do = func() any {
		if d.of.engine != d.engine {
			return errDead
		}
		made := parts
		if verb == "write" {
			d.of.writes++
			if torn := d.of.tears(c); torn {
				made = parts / 2
				change(made)
				return errDead
			}
		}
		change(made)
		return nil
	}
	_, err := d.process.ask(context.WithoutCancel(ctx), c)
	return err
}

// tears tells whether the process dies in the middle of this write.
func (w *shelves) tears(c *call) bool {
	for _, m := range w.script.Mishaps {
		if m.What == "torn" && m.Whom == strconv.Itoa(w.writes) {
			c.process.crash(m.For)
			return true
		}
	}
	return false
}

// fullDisk is what a disk that is full answers.
func fullDisk() error { return &shard.ReadOnly{Cause: errors.New("no space left on device")} }
